// The secrets contract on MongoDB or a compatible server.
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { encryptedSecrets } from "../../src/stores/secrets/encrypted-secrets.ts";
import { keyringOf } from "../../src/stores/secrets/keyring.ts";
import { mongodbSecrets, prepareSecrets } from "../../src/stores/secrets/secret-store.mongodb.ts";
import { mongodb, mongodbOfSuite } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { secretStoreContract } from "./secret-store.ts";
import { secretsContract } from "./secrets.ts";

onServer(mongodb, () => {
  const server = mongodbOfSuite();

  secretsContract("MongoDB", async () => {
    const url = server.newDatabase();
    const connection = new MongodbConnection(url);
    await prepareSecrets(connection);
    const over = (opened: MongodbConnection) =>
      encryptedSecrets(mongodbSecrets(opened), keyringOf("a".repeat(32)));
    const secrets = over(connection);
    return {
      secrets,
      openAnother: async () => over(new MongodbConnection(url)),
      close: () => secrets.close(),
    };
  });

  secretStoreContract("MongoDB", async () => {
    const store = mongodbSecrets(new MongodbConnection(server.newDatabase()));
    return { store, close: () => store.close() };
  });
});
