# Python 3: python3 verify.py SECRET SIGNATURE < body
import hashlib, hmac, re, sys, time

def verify(raw_body: bytes, header: str, secret: str) -> bool:
    fields = header.split(",")
    at = next((f[2:] for f in fields if re.fullmatch(r"t=\d+", f)), None)
    if at is None or abs(time.time() - int(at)) > 300:
        return False
    expected = hmac.new(secret.encode(), at.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(f[3:].encode(), expected.encode()) for f in fields if f.startswith("v1="))

if __name__ == "__main__":
    sys.exit(0 if verify(sys.stdin.buffer.read(), sys.argv[2], sys.argv[1]) else 1)
