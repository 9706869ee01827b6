// Makes a link, and reads it, its numbers and its events through the generated client.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"linkledger.example/client/generated"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	baseURL, key := os.Args[1], os.Args[2]
	ctx := context.Background()
	client := must(generated.NewClientWithResponses(baseURL, generated.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("X-API-Key", key)
			return nil
		})))

	code := 302
	made := must(client.ShortenWithResponse(ctx, nil, generated.ShortenRequest{
		Url: "https://example.com/go", RedirectCode: &code,
	}))
	slug := made.JSON201.Slug
	scope := generated.ListLinksParamsScopeAccount
	list := must(client.ListLinksWithResponse(ctx, &generated.ListLinksParams{Scope: &scope}))
	whole := must(client.GetAnalyticsWithResponse(ctx, slug, nil))
	recent := []generated.RecentClickDevice{}
	for _, click := range whole.JSON200.Analytics.RecentClicks {
		recent = append(recent, click.Device)
	}
	ranged := must(client.GetRangeAnalyticsWithResponse(ctx, slug, nil))
	types := "LinkCreated"
	created := []string{}
	for _, event := range must(client.ListEventsWithResponse(ctx, &generated.ListEventsParams{Types: &types})).JSON200.Events {
		if must(event.Discriminator()) == "LinkCreated" {
			created = append(created, must(event.AsLinkCreatedEvent()).Data.LongUrl)
		}
	}
	wrong := must(client.GetLinkWithResponse(ctx, "none", nil))
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"slug":    slug,
		"status":  list.JSON200.Links[0].Status,
		"recent":  recent,
		"days":    len(ranged.JSON200.Analytics.Series),
		"created": created,
		"code":    wrong.JSON404.Code,
	}); err != nil {
		panic(err)
	}
}
