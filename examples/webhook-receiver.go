// Receives webhooks: verifies the signature, answers, then does its work. WEBHOOK_KEY and PORT come from the environment.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var key = []byte(os.Getenv("WEBHOOK_KEY"))

func isOurs(header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() >= 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, entry := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(entry), expected) {
			return true
		}
	}
	return false
}

func receive(response http.ResponseWriter, request *http.Request) {
	response.Header().Set("content-type", "application/json")
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
	if err != nil || !isOurs(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		response.Write([]byte(`{"error":"Invalid webhook key"}`))
		return
	}
	response.Write([]byte(`{"received":true}`))
	var event struct {
		Event string
		Data  struct {
			ShortURL string `json:"short_url"`
		}
	}
	if json.Unmarshal(body, &event) == nil {
		log.Println(request.Header.Get("webhook-id"), event.Event, event.Data.ShortURL)
	}
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
