<?php
// Plays orders, a JSON object a line, by the PHP client; answers with one line each.
declare(strict_types=1);
error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message): bool {
    if (!(error_reporting() & $level)) return false;
    throw new ErrorException($message);
});
require $argv[1] . '/posthorn.php';

function play(array $order, array &$waits): mixed
{
    if ($order['call'] === 'webhook') {
        Posthorn\Webhook::read($order['body'], $order['header'] ?? null, $order['secrets'], now: $order['now']);
        return 'good';
    }
    $client = new Posthorn\Client($order['url'], $order['apiKey'] ?? 'ph_secret', [
        'timeout' => $order['timeout'],
        'maxAnswerBytes' => $order['mostBytes'] ?? 1000,
        'chance' => fn (): float => 0.5,
        'sleep' => function (float $seconds) use (&$waits): void { $waits[] = $seconds; },
    ]);
    foreach ([print_r($client, true), var_export($client, true)] as $shown) {
        if (str_contains($shown, 'ph_secret')) throw new Exception('the key is shown');
    }
    foreach ($order['first'] ?? [] as $call) {
        try {
            ask($client, ['call' => $call] + $order);
        } catch (Posthorn\PosthornError) {
        }
    }
    return ask($client, $order);
}

function ask(Posthorn\Client $client, array $order): mixed
{
    return match ($order['call']) {
        'send' => $client->sendEmail($order['mail'], isset($order['key']) ? ['idempotencyKey' => $order['key']] : [])['id'],
        'nan' => $client->sendEmail($order['mail'] + ['data' => ['x' => NAN]])['id'],
        'bytes' => $client->sendEmail($order['mail'] + ['data' => ['x' => "\xff"]])['id'],
        'get' => $client->getEmail('x')['email']['id'],
        'cancel' => $client->cancelEmail('x')['message'],
        'import' => $client->importContacts('x', "email\nann@example.org\n"),
        'list' => array_column(iterator_to_array($client->listEmails(['limit' => 2, 'type' => null]), false), 'id'),
    };
}

while (($line = fgets(STDIN)) !== false) {
    $waits = [];
    $answer = [];
    try {
        $answer['result'] = play(json_decode($line, true), $waits);
    } catch (Posthorn\PosthornError $error) {
        $answer['error'] = ['code' => $error->errorCode, 'kind' => substr($error::class, 9), 'status' => $error->status,
            'message' => $error->getMessage(), 'retryable' => $error->retryable, 'retryAfter' => $error->retryAfter,
            'attempts' => $error->attempts];
    } catch (Posthorn\WebhookVerificationError $error) {
        $answer['error'] = ['code' => $error->reason];
    } catch (InvalidArgumentException $error) {
        $answer['error'] = ['code' => 'argument', 'message' => $error->getMessage()];
    }
    echo json_encode($answer + ['waits' => $waits]), "\n";
}
