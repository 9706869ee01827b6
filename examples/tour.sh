# A tour beside a service that runs (npm start): an account, a link, its visits, its story and its proof. Paste it, or run it
# as `. examples/tour.sh`, which leaves KEY and SLUG in your shell for the examples of docs/.

# An account with an API key; of one that is there already another key.
KEY=$( (bin/linkledger account create --email you@example.com --key || bin/linkledger key issue --account you@example.com) 2>/dev/null | grep -o 'll_[A-Za-z0-9]*')

# A link.
LINK=$(curl -s http://localhost:3000/api/v1/shorten -H "X-API-Key: $KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/spring?utm_source=newsletter"}')
echo "$LINK"
SLUG=$(echo "$LINK" | grep -o '"slug":"[^"]*' | cut -d '"' -f 4)

# A visit by a phone, and one by curl: a preview, as bots are, for nobody looked at a page.
curl -si http://localhost:3000/$SLUG -A 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'
curl -s http://localhost:3000/$SLUG

# Its numbers, a second later.
sleep 1
curl -s http://localhost:3000/api/v1/analytics/$SLUG -H "X-API-Key: $KEY"

# Its story as the log tells it, and the proof that nobody has changed it.
bin/linkledger explain http://localhost:3000/$SLUG
bin/linkledger audit seal
bin/linkledger audit verify
