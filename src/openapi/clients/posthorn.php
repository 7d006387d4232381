<?php
/**
 * Client of the Posthorn mail appliance: one file, no extension beside PHP's own, for PHP 8.2 or later.
 *
 *     require 'posthorn.php';
 *     $posthorn = new Posthorn\Client('http://posthorn.internal:8080', 'ph_...');  // or POSTHORN_URL, POSTHORN_API_KEY
 *     $sent = $posthorn->sendEmail(['from' => 'Shop <shop@example.com>', 'to' => 'ann@example.org',
 *         'subject' => 'Your order', 'html' => '<p>Thank you!</p>']);
 *
 * Each POST has an Idempotency-Key, the same with the same bytes in all its attempts, so that a repeat cannot act twice.
 * A request is repeated after no whole answer, a 500, 502, 503, 504, a 409 `concurrent_idempotent_request`, and a 429
 * `rate_limit_exceeded` (after its Retry-After); never after `account_paused`, quotas and all else. Failures are thrown:
 * branch on `$error->errorCode`.
 */
declare(strict_types=1);

namespace Posthorn;

/** A refusal by the appliance, or why there was no answer. */
class PosthornError extends \RuntimeException
{
    /**
     * @param string $errorCode branch on it
     * @param mixed $body of the answer
     * @param int $attempts how often it was tried
     * @param bool $retryable whether it may succeed a little later
     * @param float|null $retryAfter for a 429: in how many seconds
     */
    public function __construct(
        string $message,
        public readonly string $errorCode,
        public readonly int $status = 0,
        public readonly mixed $body = null,
        public readonly ?string $requestId = null,
        public readonly int $attempts = 1,
        public readonly bool $retryable = false,
        public readonly ?float $retryAfter = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }

    /** @internal The server asks for a longer wait than a call has. */
    public function after(float $wait, float $most): static
    {
        $this->message .= sprintf('; it asks to wait %.0f s, and a call takes %g s at most', $wait, $most);
        return $this;
    }
}

/** 400, 413, 415, 422: `$body` names the fields. Status 0: it cannot be sent at all. */
class ValidationError extends PosthornError {}
/** 401: the key is missing, unknown, deleted or expired. */
class AuthenticationError extends PosthornError {}
/** 402 and 403: the key, or the account, may not do this. */
class PermissionError extends PosthornError {}
/** The operator has to act: never loop. */
class AccountPausedError extends PosthornError {}
/** A cap of the plan; `$body` has `canSend`, or when it starts again. */
class QuotaError extends PosthornError {}
/** 429: more requests than a key may make in its window. */
class RateLimitError extends PosthornError {}
class NotFoundError extends PosthornError {}
class ConflictError extends PosthornError {}
class ServerError extends PosthornError {}
/** There was no whole answer. */
class ConnectionError extends PosthornError {}
/** There was no answer in time. */
class TimeoutError extends PosthornError {}

/** Answer 400. `$reason`: missing, malformed, old, signature. */
class WebhookVerificationError extends \RuntimeException
{
    public function __construct(string $message, public readonly string $reason)
    {
        parent::__construct($message);
    }
}

/** @internal One attempt that had no whole answer. */
final class Broken extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $late = false, public readonly bool $large = false)
    {
        parent::__construct($message);
    }
}

/** @internal A connection for one request, and what comes by it, until the attempt's end. */
final class Wire
{
    public readonly string $host;
    public readonly string $target;
    /** @var resource */
    private $stream;
    private float $end;
    private string $unread = '';

    /** @param array<string, mixed> $ssl */
    public function __construct(string $url, array $ssl, private float $timeout)
    {
        $this->end = microtime(true) + $timeout;
        $parts = parse_url($url);
        if ($parts === false || !isset($parts['host'])) throw new \InvalidArgumentException('The url names no host');
        $isTls = ($parts['scheme'] ?? '') === 'https';
        $this->host = $parts['host'] . (isset($parts['port']) ? ":$parts[port]" : '');
        $this->target = ($parts['path'] ?? '/') . (isset($parts['query']) ? "?$parts[query]" : '');
        $to = ($isTls ? 'tls' : 'tcp') . "://$parts[host]:" . ($parts['port'] ?? ($isTls ? 443 : 80));
        // The first warning has the reason: the last one does not say what is wrong with a certificate.
        $said = [];
        set_error_handler(static function (int $level, string $message) use (&$said): bool {
            $said[] = preg_replace('/^\S+\(\): /', '', $message);
            return true;
        });
        try {
            $context = stream_context_create(['ssl' => $ssl]);
            $stream = stream_socket_client($to, $number, $why, $timeout, STREAM_CLIENT_CONNECT, $context);
        } finally {
            restore_error_handler();
        }
        if ($stream === false) {
            if ($this->left() <= 0) throw $this->late();
            throw new Broken('The connection broke before the answer: ' . ($said[0] ?? $why));
        }
        $this->stream = $stream;
    }

    public function close(): void
    {
        fclose($this->stream);
    }

    /** Sends all, or as much as the server takes: it may have answered before, and its answer says why. */
    public function send(#[\SensitiveParameter] string $bytes): void
    {
        for ($sent = 0; $sent < strlen($bytes); $sent += $count) {
            $this->limit();
            $count = @fwrite($this->stream, substr($bytes, $sent, 65536));
            if (!$count) return;
        }
    }

    /** Gives what comes before a mark, which is taken too. */
    public function until(string $mark, int $most): string
    {
        while (($at = strpos($this->unread, $mark)) === false) {
            if (strlen($this->unread) > $most) throw new Broken('The head of the answer has no end');
            if (!$this->more()) throw new Broken('The connection broke before the answer: it was closed');
        }
        $found = substr($this->unread, 0, $at);
        $this->unread = substr($this->unread, $at + strlen($mark));
        return $found;
    }

    public function take(int $length): string
    {
        while (strlen($this->unread) < $length) {
            if (!$this->more()) throw new Broken('The answer is not whole');
        }
        [$taken, $this->unread] = [$this->unread, ''];
        if (strlen($taken) === $length) return $taken;
        $this->unread = substr($taken, $length);
        return substr($taken, 0, $length);
    }

    /** All up to the connection's end; null: it is more than `$most` bytes. */
    public function rest(int $most): ?string
    {
        do if (strlen($this->unread) > $most) return null; while ($this->more());
        return $this->unread;
    }

    private function more(): bool
    {
        $this->limit();
        $piece = @fread($this->stream, 65536);
        if (stream_get_meta_data($this->stream)['timed_out']) throw $this->late();
        $this->unread .= $piece;
        return $piece !== false && $piece !== '';
    }

    private function limit(): void
    {
        $left = $this->left();
        if ($left <= 0) throw $this->late();
        stream_set_timeout($this->stream, (int) $left, (int) (fmod($left, 1) * 1e6));
    }

    private function left(): float
    {
        return $this->end - microtime(true);
    }

    private function late(): Broken
    {
        return new Broken(sprintf('No answer within %g s', $this->timeout), true);
    }
}

/**
 * A list: iterating it gives every item of all pages; `first()` and `pages()` give pages as they are answered.
 *
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class Pages implements \IteratorAggregate
{
    /** @var array<string, mixed>|null */
    private ?array $first = null;

    /** @param \Closure(string|null): array<string, mixed> $fetch */
    public function __construct(private \Closure $fetch, private string $key) {}

    /** @return array<string, mixed> */
    public function first(): array
    {
        return $this->first ??= ($this->fetch)(null);
    }

    /** @return \Generator<int, array<string, mixed>> */
    public function pages(): \Generator
    {
        for ($page = $this->first(); ; $page = ($this->fetch)($page['nextCursor'])) {
            yield $page;
            if (empty($page['nextCursor'])) return;
        }
    }

    /** @return \Generator<int, T> */
    public function getIterator(): \Generator
    {
        foreach ($this->pages() as $page) {
            foreach ($page[$this->key] as $item) yield $item;
        }
    }
}

/**
 * A client of one appliance, for one API key. The last argument of a method: `idempotencyKey` of a POST, `timeout` in
 * seconds for each attempt, `retries`.
 *
 * @phpstan-type Options array{idempotencyKey?: string, timeout?: float|int, retries?: int}
 * <types>
 */
final class Client
{
    public const VERSION = '@VERSION@';

    private string $url;
    /** @var \Closure(): (string|null) in a function, so that no dump shows it */
    private \Closure $key;
    private float $timeout;
    private int $retries;
    private float $maxElapsed;
    private int $maxAnswerBytes;
    /** @var \Closure(float): void */
    private \Closure $sleep;
    /** @var \Closure(): float */
    private \Closure $chance;
    /** @var array<string, mixed> */
    private array $ssl;

    /**
     * @param array{timeout?: float|int, retries?: int, maxElapsed?: float|int, maxAnswerBytes?: int,
     *     sleep?: callable(float): void, chance?: callable(): float, ssl?: array<string, mixed>} $options `ssl`: of PHP's
     *     stream context; `maxAnswerBytes`: 64 MiB, twice the largest answer that an appliance gives
     */
    public function __construct(?string $url = null, #[\SensitiveParameter] ?string $apiKey = null, array $options = [])
    {
        $url ??= getenv('POSTHORN_URL') ?: null;
        if ($url === null) throw new \InvalidArgumentException('Posthorn needs $url, or POSTHORN_URL');
        $parts = parse_url($url);
        if ($parts === false || !in_array($parts['scheme'] ?? '', ['http', 'https'], true) || isset($parts['user'])) {
            throw new \InvalidArgumentException('$url is not http: or https: without a user and a password');
        }
        $this->url = preg_replace('~/+(v1/*)?$~', '', $url) ?? $url;
        $key = $apiKey ?? (getenv('POSTHORN_API_KEY') ?: null);
        if ($key !== null && !preg_match('/^[!-~]+$/D', $key)) {
            // The key is not shown, as a message goes into logs.
            throw new \InvalidArgumentException('$apiKey is empty, or has a space, a line break or a letter that no key has');
        }
        $this->key = static fn (): ?string => $key;
        $this->timeout = (float) ($options['timeout'] ?? 30);
        $this->retries = $options['retries'] ?? 3;
        $this->maxElapsed = (float) ($options['maxElapsed'] ?? 120);
        $this->maxAnswerBytes = $options['maxAnswerBytes'] ?? 64 * 1024 ** 2;
        $this->sleep = \Closure::fromCallable($options['sleep'] ?? static function (float $seconds): void {
            usleep((int) ($seconds * 1e6));
        });
        $this->chance = \Closure::fromCallable($options['chance'] ?? static fn (): float => mt_rand() / (mt_getrandmax() + 1));
        $this->ssl = $options['ssl'] ?? [];
    }

    /** @return array{url: string} without the key */
    public function __debugInfo(): array
    {
        return ['url' => $this->url];
    }

    /**
     * Any request, for operations that are newer than this client. `content`: bytes and their type, sent once.
     *
     * @param array{query?: array<string, mixed>, body?: mixed, content?: array{string, string}, idempotencyKey?: string,
     *     timeout?: float|int, retries?: int} $given
     */
    public function request(string $method, string $path, array $given = []): mixed
    {
        $began = microtime(true);
        $key = $given['idempotencyKey'] ?? ($method === 'POST' ? self::uuid() : null);
        $headers = ['Accept: application/json', 'User-Agent: posthorn-php/' . self::VERSION, 'Connection: close'];
        $apiKey = ($this->key)();
        if ($apiKey !== null) $headers[] = "Authorization: Bearer $apiKey";
        if ($key !== null) {
            if (!preg_match('/^[!-~]{1,255}$/D', $key)) {
                throw self::unfit('idempotencyKey: expected 1 to 255 visible ASCII characters');
            }
            $headers[] = "Idempotency-Key: $key";
        }
        $data = null;
        if (isset($given['content'])) {
            [$data, $type] = $given['content'];
            $headers[] = "Content-Type: $type";
        } elseif (array_key_exists('body', $given)) {
            try {
                $data = json_encode($given['body'] === [] ? new \stdClass() : self::plain($given['body']), JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
            } catch (\JsonException $cause) {
                throw self::unfit('The body cannot be sent as JSON: ' . $cause->getMessage(), $cause);
            }
            $headers[] = 'Content-Type: application/json';
        }
        $url = $this->url . $path . self::search($given['query'] ?? []);
        $chances = isset($given['content']) ? 0 : ($given['retries'] ?? $this->retries);
        for ($attempt = 1; ; $attempt++) {
            $backoff = ($this->chance)() * min(8, 0.5 * 2 ** ($attempt - 1));
            try {
                [$status, $answer, $text] = $this->once($method, $url, $data, $headers, (float) ($given['timeout'] ?? $this->timeout));
                $body = json_decode($text, true);
                $isJson = json_last_error() === JSON_ERROR_NONE;
                if ($status < 300) {
                    if ($isJson) return $body;
                    // The request may have been carried out: the repeat with the same key finds out.
                    throw new Broken('The answer is not whole');
                }
                $error = self::refused($status, $answer, $isJson ? $body : substr($text, 0, 200), $attempt);
                $wait = self::waitFor($error, $backoff, $this->chance);
            } catch (Broken $broken) {
                $kind = $broken->late ? TimeoutError::class : ConnectionError::class;
                $code = $broken->late ? 'timeout' : ($broken->large ? 'answer_too_large' : 'connection_failed');
                $tried = $attempt > 1 ? " (tried $attempt times)" : '';
                $error = new $kind($broken->getMessage() . $tried, $code, attempts: $attempt, retryable: !$broken->large, previous: $broken);
                $wait = $broken->large ? null : $backoff;
            }
            if ($wait === null || $attempt > $chances) throw $error;
            if (microtime(true) - $began + $wait > $this->maxElapsed) {
                throw $error->retryAfter === null ? $error : $error->after($wait, $this->maxElapsed);
            }
            ($this->sleep)($wait);
        }
    }

    // <methods>

    /**
     * One attempt: it ends with the whole answer, or with Broken. By a socket, as PHP's own HTTP has a time for each piece
     * of a head alone, and no bound for its length. Redirects are not followed: the request would go to a place that
     * nobody has named.
     *
     * @param list<string> $headers
     * @return array{int, array<string, string>, string}
     */
    private function once(string $method, string $url, ?string $data, #[\SensitiveParameter] array $headers, float $timeout): array
    {
        $wire = new Wire($url, $this->ssl, $timeout);
        try {
            if ($data !== null) $headers[] = 'Content-Length: ' . strlen($data);
            $wire->send("$method $wire->target HTTP/1.1\r\nHost: $wire->host\r\n" . implode("\r\n", $headers) . "\r\n\r\n$data");
            // Informational answers (RFC 9110 15.2) come before the final one.
            do [$status, $answer] = self::head($wire->until("\r\n\r\n", 262144)); while ($status < 200);
            return [$status, $answer, self::body($wire, $status, $answer, $this->maxAnswerBytes)];
        } finally {
            $wire->close();
        }
    }

    /** @return array{int, array<string, string>} */
    private static function head(string $text): array
    {
        $lines = explode("\r\n", $text);
        if (!preg_match('~^HTTP/1\.[01] (\d{3})( |$)~', array_shift($lines), $match)) throw new Broken('The answer is not HTTP');
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower($name)] = trim($value);
        }
        return [(int) $match[1], $headers];
    }

    /** @param array<string, string> $headers */
    private static function body(Wire $wire, int $status, array $headers, int $most): string
    {
        if ($status === 204 || $status === 304) return '';
        $large = new Broken("The answer has more than $most bytes; see maxAnswerBytes", large: true);
        if (strtolower($headers['transfer-encoding'] ?? '') !== 'chunked') {
            $length = $headers['content-length'] ?? null;
            if ($length !== null && !ctype_digit($length)) throw new Broken('The answer is not whole');
            // PHP makes a length that is too long for it the largest that it knows.
            if ((int) $length > $most) throw $large;
            $text = $length === null ? $wire->rest($most) : $wire->take((int) $length);
            return $text ?? throw $large;
        }
        for ($text = ''; ; ) {
            $size = trim(explode(';', $wire->until("\r\n", 8192))[0]);
            if (!preg_match('/^[0-9a-fA-F]{1,15}$/D', $size)) throw new Broken('The answer is not whole');
            if ($size === str_repeat('0', strlen($size))) return $text;
            if (strlen($text) + hexdec($size) > $most) throw $large;
            $text .= $wire->take((int) hexdec($size));
            if ($wire->take(2) !== "\r\n") throw new Broken('The answer is not whole');
        }
    }

    /** An error from before anything is sent. */
    private static function unfit(string $message, ?\Throwable $cause = null): ValidationError
    {
        return new ValidationError($message, 'validation_error', attempts: 0, previous: $cause);
    }

    /** @param array<string, string> $headers */
    private static function refused(int $status, array $headers, mixed $body, int $attempts): PosthornError
    {
        $known = is_array($body) && is_string($body['code'] ?? null) ? $body['code'] : null;
        $code = $known ?? ($status === 400 || $status === 422 ? 'validation_error' : "http_$status");
        $said = is_array($body) ? $body['error'] ?? null : null;
        if ($known !== null && is_string($said)) $message = $said;
        elseif (is_array($said) && is_array($said['issues'] ?? null)) {
            $message = implode('; ', array_map(static fn ($one) => implode('.', $one['path']) . ": $one[message]", $said['issues']));
        } elseif ($status < 400 && isset($headers['location'])) {
            $message = "The server redirects to $headers[location]: set \$url to where the appliance is";
        } else $message = "The server answered $status, not as Posthorn does: " . (is_string($body) ? $body : json_encode($body));
        $retryable = $code !== 'account_paused'
            && ($status >= 500 || $code === 'rate_limit_exceeded' || $code === 'concurrent_idempotent_request');
        $kind = match (true) {
            $code === 'account_paused' => AccountPausedError::class,
            $code === 'daily_quota_exceeded', $code === 'monthly_quota_exceeded' => QuotaError::class,
            $code === 'rate_limit_exceeded' => RateLimitError::class,
            $status >= 500 => ServerError::class,
            $status === 401 => AuthenticationError::class,
            $status === 402, $status === 403 => PermissionError::class,
            $status === 404 => NotFoundError::class,
            $status === 409 => ConflictError::class,
            $status >= 400 => ValidationError::class,
            default => PosthornError::class,
        };
        return new $kind($message, $code, $status, $body, $headers['x-request-id'] ?? null, $attempts, $retryable, self::retryAfter($headers));
    }

    /** @param array<string, string> $headers */
    private static function retryAfter(array $headers): ?float
    {
        $value = $headers['retry-after'] ?? '';
        if (ctype_digit($value)) return (float) $value;
        $at = $value === '' ? false : strtotime($value);
        return $at === false ? null : max(0.0, (float) ($at - time()));
    }

    /** @param \Closure(): float $chance */
    private static function waitFor(PosthornError $error, float $backoff, \Closure $chance): ?float
    {
        if ($error->errorCode === 'account_paused') return null;
        if ($error->errorCode === 'concurrent_idempotent_request') return 0.5 + $chance() * 1.5;
        $passes = $error->errorCode === 'rate_limit_exceeded' || in_array($error->status, [500, 502, 503, 504], true);
        return $passes ? $error->retryAfter ?? $backoff : null;
    }

    /** @param array<string, mixed> $query */
    private static function search(array $query): string
    {
        $given = [];
        foreach ($query as $name => $value) {
            if ($value === null) continue;
            foreach (is_array($value) ? $value : [$value] as $one) {
                $text = is_bool($one) ? ($one ? 'true' : 'false') : (string) self::plain($one);
                $given[] = rawurlencode((string) $name) . '=' . rawurlencode($text);
            }
        }
        return $given === [] ? '' : '?' . implode('&', $given);
    }

    /** Times as texts. An array without entries is a list; for an object without fields give `new \stdClass()`. */
    private static function plain(mixed $value): mixed
    {
        if ($value instanceof \DateTimeInterface) {
            return \DateTimeImmutable::createFromInterface($value)->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.v\Z');
        }
        return is_array($value) ? array_map(self::plain(...), $value) : $value;
    }

    private static function path(string $template, string|int ...$params): string
    {
        return preg_replace_callback('/\{(\w+)\}/', static function (array $match) use (&$params): string {
            $value = (string) array_shift($params);
            // An empty id would make the path of another endpoint: the list instead of one item of it.
            if ($value === '') throw new \InvalidArgumentException("$match[1] is missing");
            return rawurlencode($value);
        }, $template) ?? $template;
    }

    /** @return array{string, string} */
    private static function form(string $field, string $data): array
    {
        $mark = bin2hex(random_bytes(16));
        $start = "--$mark\r\nContent-Disposition: form-data; name=\"$field\"; filename=\"file\"\r\nContent-Type: text/csv\r\n\r\n";
        return ["$start$data\r\n--$mark--\r\n", "multipart/form-data; boundary=$mark"];
    }

    private static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}

/** Received webhooks. */
final class Webhook
{
    /**
     * The event, after its signature was verified over the body as it was received (`file_get_contents('php://input')`).
     * `$header` is that of Svc-Signature; while a secret is being replaced, give both. Throws a WebhookVerificationError:
     * answer 400. An empty secret (also the `false` of getenv) is an InvalidArgumentException: everybody could sign with it.
     *
     * @param string|list<string>|false $secret
     * @return array<string, mixed>
     */
    public static function read(string $rawBody, ?string $header, #[\SensitiveParameter] string|array|false|null $secret, int $tolerance = 300, ?int $now = null): array
    {
        $secrets = is_array($secret) ? $secret : [$secret];
        if ($secrets === [] || array_filter($secrets, static fn ($one) => !is_string($one) || trim($one) === '') !== []) {
            throw new \InvalidArgumentException('The secret of the webhook is empty or no text; give that of the webhook\'s page');
        }
        if ($header === null || $header === '') throw new WebhookVerificationError('There is no Svc-Signature', 'missing');
        $times = $digests = [];
        foreach (array_map('trim', explode(',', $header)) as $field) {
            if (str_starts_with($field, 't=')) $times[] = $field;
            if (preg_match('/^v1=([0-9a-fA-F]{64})$/D', $field, $match)) $digests[] = strtolower($match[1]);
        }
        if (count($times) !== 1 || !preg_match('/^t=([0-9]{1,12})$/D', $times[0], $match) || $digests === []) {
            throw new WebhookVerificationError('Svc-Signature is not t=...,v1=...', 'malformed');
        }
        if (abs(($now ?? time()) - (int) $match[1]) > $tolerance) {
            throw new WebhookVerificationError('Svc-Signature is of another time', 'old');
        }
        $isGood = false;
        foreach ($secrets as $one) {
            $expected = hash_hmac('sha256', "$match[1].$rawBody", $one);
            // Checks all of them, each in constant time, so that the time reveals nothing.
            foreach ($digests as $digest) $isGood = hash_equals($expected, $digest) || $isGood;
        }
        if (!$isGood) throw new WebhookVerificationError('Svc-Signature does not fit the body', 'signature');
        return json_decode($rawBody, true, flags: JSON_THROW_ON_ERROR);
    }
}
