// Package posthorn is the client of the Posthorn mail appliance: one file, nothing beside the standard library, for
// Go 1.19 or later.
//
//	client, err := posthorn.New(posthorn.Config{URL: "http://posthorn.internal:8080", APIKey: "ph_..."})
//	sent, err := client.SendEmail(ctx, posthorn.Send{From: "Shop <shop@example.com>", To: "ann@example.org",
//		Subject: posthorn.Ptr("Your order"), HTML: posthorn.Ptr("<p>Thank you!</p>")})
//
// Each POST has an Idempotency-Key, the same with the same bytes in all its attempts, so that a repeat cannot act twice.
// A request is repeated after no whole answer, a 500, 502, 503, 504, a 409 concurrent_idempotent_request, and a 429
// rate_limit_exceeded (after its Retry-After); never after account_paused, quotas and all else. A failure is an *Error:
// branch on its Code.
package posthorn

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Version is the appliance's that this client fits.
const Version = "@VERSION@"

// Config says where the appliance is and how patient the client may be; a zero value means the default.
type Config struct {
	// URL is where the API is; else POSTHORN_URL. APIKey is the key; else POSTHORN_API_KEY.
	URL    string
	APIKey string
	// Timeout is for each attempt; usually 30 s. MaxElapsed is for all attempts and waits of a call; usually 2 min.
	Timeout    time.Duration
	MaxElapsed time.Duration
	// Retries is how often a request may be tried again; usually 3, below zero none.
	Retries int
	// MaxAnswerBytes of an answer are read at most; usually 64 MiB, twice the largest that an appliance gives.
	MaxAnswerBytes int64
	// HTTPClient is used instead of one of its own. It must not follow redirects.
	HTTPClient *http.Client
	// Sleep and Chance (below 1) are for tests.
	Sleep  func(context.Context, time.Duration) error
	Chance func() float64
}

// Format shows where the appliance is, and never the key, whatever the verb.
func (config Config) Format(state fmt.State, _ rune) {
	io.WriteString(state, "posthorn.Config("+config.URL+")")
}

// Client is for one API key of one appliance, and for any number of goroutines.
type Client struct {
	config Config
	base   string
	// In a function, so that printing the structure does not show it.
	key func() string
}

// New checks the configuration.
func New(config Config) (*Client, error) {
	if config.URL == "" {
		config.URL = os.Getenv("POSTHORN_URL")
	}
	if config.APIKey == "" {
		config.APIKey = os.Getenv("POSTHORN_API_KEY")
	}
	key := config.APIKey
	config.APIKey = ""
	if key != "" && !regexp.MustCompile(`^[!-~]+$`).MatchString(key) {
		// The key is not shown, as a message goes into logs.
		return nil, errors.New("posthorn: APIKey has a space, a line break or a letter that no key has")
	}
	at, err := url.Parse(config.URL)
	if err != nil || at.Host == "" || at.User != nil || (at.Scheme != "http" && at.Scheme != "https") {
		return nil, errors.New("posthorn: URL, or POSTHORN_URL, is not http: or https: without a user and a password")
	}
	if config.Timeout == 0 {
		config.Timeout = 30 * time.Second
	}
	if config.MaxElapsed == 0 {
		config.MaxElapsed = 2 * time.Minute
	}
	if config.Retries == 0 {
		config.Retries = 3
	}
	if config.MaxAnswerBytes == 0 {
		config.MaxAnswerBytes = 64 << 20
	}
	if config.HTTPClient == nil {
		// Redirects are not followed: the request would go to a place that nobody has named.
		stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		config.HTTPClient = &http.Client{CheckRedirect: stay}
	}
	if config.Sleep == nil {
		config.Sleep = sleep
	}
	if config.Chance == nil {
		config.Chance = mathrand.Float64
	}
	base := regexp.MustCompile(`/+(v1/*)?$`).ReplaceAllString(config.URL, "")
	return &Client{config, base, func() string { return key }}, nil
}

// String does not show the key.
func (client Client) String() string { return "posthorn.Client(" + client.base + ")" }

// GoString does not show the key either.
func (client Client) GoString() string { return client.String() }

// Format shows where the appliance is, and never the key, whatever the verb.
func (client Client) Format(state fmt.State, _ rune) { io.WriteString(state, client.String()) }

// Ptr gives the pointer for an optional field.
func Ptr[T any](value T) *T { return &value }

// Option changes one call.
type Option func(*call)

// WithIdempotencyKey names a POST: the same call again, in this run of the program or another one, acts once.
func WithIdempotencyKey(key string) Option { return func(one *call) { one.key, one.isNamed = key, true } }

// WithTimeout is for each attempt of one call.
func WithTimeout(timeout time.Duration) Option { return func(one *call) { one.timeout = timeout } }

// WithRetries is how often one call may be tried again.
func WithRetries(retries int) Option { return func(one *call) { one.retries = retries } }

type call struct {
	method, path string
	query        any
	body         any
	// A file is sent once, as a form.
	form        []byte
	contentType string
	key         string
	isNamed     bool
	timeout     time.Duration
	retries     int
}

// A server that lies must not fill the memory; the repeat would be as large.
const tooLarge = "answer_too_large"

var keyForm = regexp.MustCompile(`^[!-~]{1,255}$`)

// Error is a refusal by the appliance, or why there was no answer.
type Error struct {
	// Code is for branching: one of the catalogue, or timeout, connection_failed, answer_too_large, http_<status>.
	Code    string
	Message string
	// Status is 0 if there was no whole answer.
	Status    int
	RequestID string
	// Body is the answer, or its beginning if it is no JSON.
	Body []byte
	// Attempts is how often it was tried, Retryable whether it may succeed a little later.
	Attempts  int
	Retryable bool
	// RetryAfter is that of a 429; below zero if not given.
	RetryAfter time.Duration
	Cause      error
}

func (err *Error) Error() string { return "posthorn: " + err.Message }

func (err *Error) Unwrap() error { return err.Cause }

// IsCode tells whether an error is an *Error with this code.
func IsCode(err error, code string) bool {
	var own *Error
	return errors.As(err, &own) && own.Code == code
}

// Pages is a list. Next moves to the next item, over all pages; a page is fetched when it is needed.
//
//	for list.Next() { use(list.Item()) }
//	if err := list.Err(); err != nil { ... }
type Pages[Item any] struct {
	fetch  func(cursor string) (items []Item, next *string, err error)
	items  []Item
	cursor string
	ended  bool
	item   Item
	err    error
}

// Next is false at the end, and if a page could not be fetched: then Err says why.
func (pages *Pages[Item]) Next() bool {
	for len(pages.items) == 0 {
		if pages.ended {
			return false
		}
		items, next, err := pages.fetch(pages.cursor)
		if err != nil {
			pages.ended, pages.err = true, err
			return false
		}
		pages.items = items
		if next == nil || *next == "" {
			pages.ended = true
		} else {
			pages.cursor = *next
		}
	}
	pages.item, pages.items = pages.items[0], pages.items[1:]
	return true
}

// Item is the item to which Next has moved.
func (pages *Pages[Item]) Item() Item { return pages.item }

// Err is why Next ended before the list did.
func (pages *Pages[Item]) Err() error { return pages.err }

// Request makes any request, for operations that are newer than this client; answer may be nil.
func (client *Client) Request(ctx context.Context, method, path string, query, body, answer any, options ...Option) error {
	return client.ask(ctx, call{method: method, path: path, query: query, body: body}, answer, options)
}

func (client *Client) ask(ctx context.Context, one call, answer any, options []Option) error {
	one.timeout, one.retries = client.config.Timeout, client.config.Retries
	for _, option := range options {
		option(&one)
	}
	if one.isNamed && !keyForm.MatchString(one.key) {
		return unfit("the idempotency key: expected 1 to 255 visible ASCII characters", nil)
	}
	if !one.isNamed && one.method == http.MethodPost {
		one.key = uuid()
	}
	data, contentType := one.form, one.contentType
	if one.form != nil {
		one.retries = 0
	} else if one.body != nil {
		encoded, err := json.Marshal(one.body)
		if err != nil {
			return unfit("the body cannot be sent as JSON: "+err.Error(), err)
		}
		data, contentType = encoded, "application/json"
	}
	search, err := searchOf(one.query)
	if err != nil {
		return err
	}
	began := time.Now()
	for attempt := 1; ; attempt++ {
		backoff := time.Duration(client.config.Chance() * math.Min(8, 0.5*math.Pow(2, float64(attempt-1))) * float64(time.Second))
		status, headers, given, broken := client.once(ctx, one, client.base+one.path+search, data, contentType)
		if broken == nil && status < 300 {
			if answer == nil {
				return nil
			}
			// The request may have been carried out: the repeat with the same key finds out.
			if broken = json.Unmarshal(given, answer); broken == nil {
				return nil
			}
			broken = fmt.Errorf("the answer is not whole: %w", broken)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var failure *Error
		wait, again := backoff, true
		if broken != nil {
			failure = brokenOff(broken, attempt, one.timeout)
		} else {
			failure = refused(status, headers, given, attempt)
			wait, again = waitFor(failure, backoff, client.config.Chance)
		}
		again = again && failure.Code != tooLarge
		if !again || attempt > one.retries {
			return failure
		}
		if time.Since(began)+wait > client.config.MaxElapsed {
			if failure.RetryAfter >= 0 {
				failure.Message += fmt.Sprintf("; it asks to wait %.0f s, and a call takes %g s at most",
					wait.Seconds(), client.config.MaxElapsed.Seconds())
			}
			return failure
		}
		if err := client.config.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once makes one attempt: it ends with the whole answer, or with why there was none.
func (client *Client) once(ctx context.Context, one call, target string, data []byte, contentType string) (int, http.Header, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, one.timeout)
	defer cancel()
	var body io.Reader
	if data != nil {
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(limited, one.method, target, body)
	if err != nil {
		return 0, nil, nil, err
	}
	if one.form != nil {
		// Otherwise the transport would send it a second time if a kept connection breaks.
		request.GetBody = nil
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "posthorn-go/"+Version)
	if key := client.key(); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if one.key != "" {
		request.Header.Set("Idempotency-Key", one.key)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := client.config.HTTPClient.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	given, err := io.ReadAll(io.LimitReader(response.Body, client.config.MaxAnswerBytes+1))
	if err != nil {
		return 0, nil, nil, err
	}
	if most := client.config.MaxAnswerBytes; int64(len(given)) > most {
		return 0, nil, nil, &Error{Code: tooLarge, Message: fmt.Sprintf("the answer has more than %d bytes; see MaxAnswerBytes", most)}
	}
	return response.StatusCode, response.Header, given, nil
}

// unfit is an error from before anything is sent.
func unfit(message string, cause error) *Error {
	return &Error{Code: "validation_error", Message: message, RetryAfter: -1, Cause: cause}
}

func brokenOff(cause error, attempts int, timeout time.Duration) *Error {
	failure := &Error{Code: "connection_failed", Attempts: attempts, Retryable: true, RetryAfter: -1, Cause: cause}
	tried := ""
	if attempts > 1 {
		tried = fmt.Sprintf(" (tried %d times)", attempts)
	}
	if IsCode(cause, tooLarge) {
		failure.Code, failure.Message, failure.Retryable = tooLarge, strings.TrimPrefix(cause.Error(), "posthorn: ")+tried, false
		return failure
	}
	var network net.Error
	if errors.As(cause, &network) && network.Timeout() || errors.Is(cause, context.DeadlineExceeded) {
		failure.Code, failure.Message = "timeout", fmt.Sprintf("no answer within %s%s", timeout, tried)
		return failure
	}
	failure.Message = fmt.Sprintf("the connection broke before the whole answer%s: %s", tried, cause)
	return failure
}

func refused(status int, headers http.Header, given []byte, attempts int) *Error {
	failure := &Error{Status: status, RequestID: headers.Get("X-Request-Id"), Body: given, Attempts: attempts, RetryAfter: retryAfter(headers)}
	var body struct {
		Code  string          `json:"code"`
		Error json.RawMessage `json:"error"`
	}
	var text string
	var fields struct {
		Issues []struct {
			Path    []any  `json:"path"`
			Message string `json:"message"`
		} `json:"issues"`
	}
	isJSON := json.Unmarshal(given, &body) == nil
	if !isJSON && len(given) > 200 {
		failure.Body = given[:200]
	}
	failure.Code = body.Code
	switch {
	case body.Code != "" && json.Unmarshal(body.Error, &text) == nil:
		failure.Message = text
	case isJSON && json.Unmarshal(body.Error, &fields) == nil && fields.Issues != nil:
		var all []string
		for _, issue := range fields.Issues {
			var path []string
			for _, part := range issue.Path {
				path = append(path, fmt.Sprint(part))
			}
			all = append(all, strings.Join(path, ".")+": "+issue.Message)
		}
		failure.Message = strings.Join(all, "; ")
	case status < 400 && headers.Get("Location") != "":
		failure.Message = "the server redirects to " + headers.Get("Location") + ": set URL to where the appliance is"
	default:
		failure.Message = fmt.Sprintf("the server answered %d, not as Posthorn does: %s", status, failure.Body)
	}
	if failure.Code == "" {
		failure.Code = "http_" + strconv.Itoa(status)
		if status == 400 || status == 422 {
			failure.Code = "validation_error"
		}
	}
	passes := failure.Code == "rate_limit_exceeded" || failure.Code == "concurrent_idempotent_request"
	failure.Retryable = failure.Code != "account_paused" && (status >= 500 || passes)
	return failure
}

func waitFor(failure *Error, backoff time.Duration, chance func() float64) (time.Duration, bool) {
	if failure.Code == "account_paused" {
		return 0, false
	}
	if failure.Code == "concurrent_idempotent_request" {
		return time.Duration((0.5 + chance()*1.5) * float64(time.Second)), true
	}
	status := failure.Status
	if failure.Code == "rate_limit_exceeded" || status == 500 || status == 502 || status == 503 || status == 504 {
		if failure.RetryAfter >= 0 {
			return failure.RetryAfter, true
		}
		return backoff, true
	}
	return 0, false
}

func retryAfter(headers http.Header) time.Duration {
	value := strings.TrimSpace(headers.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		if left := time.Until(at); left > 0 {
			return left
		}
		return 0
	}
	return -1
}

func searchOf(query any) (string, error) {
	if query == nil {
		return "", nil
	}
	encoded, err := json.Marshal(query)
	if err != nil {
		return "", err
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return "", err
	}
	values := url.Values{}
	for name, value := range fields {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, one := range list {
			values.Add(name, fmt.Sprint(one))
		}
	}
	if len(values) == 0 {
		return "", nil
	}
	return "?" + values.Encode(), nil
}

// pathOf fills in the parameters of a path. An empty id would make the path of another endpoint.
func pathOf(template string, params ...string) (string, error) {
	for _, param := range params {
		start, end := strings.Index(template, "{"), strings.Index(template, "}")
		if param == "" {
			return "", errors.New("posthorn: " + template[start+1:end] + " is missing")
		}
		template = template[:start] + url.PathEscape(param) + template[end+1:]
	}
	return template, nil
}

func formOf(field string, data []byte) ([]byte, string, error) {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreateFormFile(field, "file")
	if err == nil {
		_, err = part.Write(data)
	}
	if err == nil {
		err = writer.Close()
	}
	return form.Bytes(), writer.FormDataContentType(), err
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func uuid() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err)
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// WebhookError is why a webhook is not taken; answer 400. Reason: missing, malformed, old, signature.
type WebhookError struct{ Reason, Message string }

func (err *WebhookError) Error() string { return "posthorn: " + err.Message }

// WebhookTolerance is how far the time of a signature may be from now, in both directions.
const WebhookTolerance = 5 * time.Minute

var digestForm = regexp.MustCompile(`^v1=([0-9a-fA-F]{64})$`)

// ReadWebhook gives the event in a webhook, after its signature was verified over the body as it was received. header is
// that of Svc-Signature; while a secret is being replaced, give both. An empty secret is an error that is no WebhookError:
// everybody could sign with it.
func ReadWebhook(rawBody []byte, header string, now time.Time, secrets ...string) (*WebhookPayload, error) {
	isEmpty := len(secrets) == 0
	for _, secret := range secrets {
		isEmpty = isEmpty || strings.TrimSpace(secret) == ""
	}
	if isEmpty {
		return nil, errors.New("posthorn: the secret of the webhook is empty; give that of the webhook's page")
	}
	if header == "" {
		return nil, &WebhookError{"missing", "there is no Svc-Signature"}
	}
	at, times := "", 0
	var digests [][]byte
	for _, field := range strings.Split(header, ",") {
		field = strings.TrimSpace(field)
		if strings.HasPrefix(field, "t=") {
			at, times = field[2:], times+1
		}
		if match := digestForm.FindStringSubmatch(field); match != nil {
			if digest, err := hex.DecodeString(match[1]); err == nil {
				digests = append(digests, digest)
			}
		}
	}
	seconds, err := strconv.ParseUint(at, 10, 40)
	if err != nil || times != 1 || len(digests) == 0 {
		return nil, &WebhookError{"malformed", "Svc-Signature is not t=...,v1=..."}
	}
	if age := now.Sub(time.Unix(int64(seconds), 0)); age > WebhookTolerance || age < -WebhookTolerance {
		return nil, &WebhookError{"old", "Svc-Signature is of another time"}
	}
	good := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(at + "."))
		mac.Write(rawBody)
		expected := mac.Sum(nil)
		for _, digest := range digests {
			// Checks all of them, each in constant time, so that the time reveals nothing.
			good = hmac.Equal(digest, expected) || good
		}
	}
	if !good {
		return nil, &WebhookError{"signature", "Svc-Signature does not fit the body"}
	}
	var event WebhookPayload
	if err := json.Unmarshal(rawBody, &event); err != nil {
		return nil, err
	}
	return &event, nil
}

// <types>

// <methods>
