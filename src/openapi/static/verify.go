// Go: go run verify.go SECRET SIGNATURE < body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func verify(rawBody []byte, header, secret string) bool {
	fields := strings.Split(header, ",")
	at := strings.TrimPrefix(fields[0], "t=")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "."))
	mac.Write(rawBody)
	for _, field := range fields[1:] {
		given, err := hex.DecodeString(strings.TrimPrefix(field, "v1="))
		if err == nil && hmac.Equal(given, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

func main() {
	body, _ := io.ReadAll(os.Stdin)
	if !verify(body, os.Args[2], os.Args[1]) {
		os.Exit(1)
	}
}
