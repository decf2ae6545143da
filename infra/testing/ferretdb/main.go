// Serves the MongoDB protocol from SQLite files, for tests of the store on machines without mongod.
// Usage: ferretdb LISTEN_ADDRESS FOLDER. Prints its URL, and ends when its standard input closes,
// so that it never outlives the test run that started it.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatalf("usage: %s 127.0.0.1:PORT FOLDER", os.Args[0])
	}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: os.Args[1]},
		Logger:    slog.New(slog.NewTextHandler(io.Discard, nil)),
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	fmt.Println(server.MongoDBURI())
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
