# Plays orders, a JSON object a line, by the Python client; answers with one line each.
import json, sys

sys.path.insert(0, sys.argv[1])
import posthorn


def play(order):
    if order["call"] == "webhook":
        # A secret that is missing is given as it would be.
        posthorn.read_webhook(order["body"].encode(), order.get("header"), order["secrets"], now=order["now"])
        return "good"
    with posthorn.Posthorn(order["url"], order.get("apiKey", "ph_secret"), timeout=order["timeout"], chance=lambda: 0.5,
                           max_answer_bytes=order.get("mostBytes", 1000),
                           sleep=order["waits"].append) as client:
        assert "ph_secret" not in repr(client)
        for call in order.get("first", []):
            try:
                ask(client, {**order, "call": call})
            except posthorn.PosthornError:
                pass
        return ask(client, order)


def ask(client, order):
    if order["call"] in ("nan", "bytes"):
        wrong = float("nan") if order["call"] == "nan" else "\ud800"
        return client.send_email({**order["mail"], "data": {"x": wrong}})["id"]
    if order["call"] == "send":
        return client.send_email(order["mail"], idempotency_key=order.get("key"))["id"]
    if order["call"] == "get":
        return client.get_email("x")["email"]["id"]
    if order["call"] == "cancel":
        return client.cancel_email("x")["message"]
    if order["call"] == "import":
        return client.import_contacts("x", b"email\nann@example.org\n")
    return [email["id"] for email in client.list_emails(query={"limit": 2, "type": None})]


for line in sys.stdin:
    order = json.loads(line)
    order["waits"] = []
    answer = {"waits": order["waits"]}
    try:
        answer["result"] = play(order)
    except posthorn.PosthornError as error:
        answer["error"] = {"code": error.code, "kind": type(error).__name__, "status": error.status, "message": str(error),
                           "retryable": error.retryable, "retryAfter": error.retry_after, "attempts": error.attempts}
    except posthorn.WebhookVerificationError as error:
        answer["error"] = {"code": error.reason}
    except ValueError as error:
        answer["error"] = {"code": "argument", "message": str(error)}
    print(json.dumps(answer), flush=True)
