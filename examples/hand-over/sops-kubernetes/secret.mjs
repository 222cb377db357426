// Resets nothing. It reads decrypted credentials from standard input, and writes the Secret, not encrypted yet.
import { readFileSync } from "node:fs";

const { connectionUrl, rotatedAt } = JSON.parse(readFileSync(0, "utf8"));
if (connectionUrl === undefined) {
  console.error("The password of the database is not known, so the Secret stays unchanged.");
  process.exit(1);
}
const metadata = { name: "sessions-database", annotations: { "example.com/rotated-at": rotatedAt ?? "adopted" } };
console.log(JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata, stringData: { url: connectionUrl } }));
