// Resets nothing. It reads the database at the platform, and runs a command with its credentials in the environment:
//
//   node deploy.mjs <database id> <command> …
//
// Run it after `pulumi up`, with REKEY_USERNAME and REKEY_PASSWORD of the rotation; for another platform than Upstash,
// also with REKEY_BASE_URL and REKEY_DATABASE_PATH.
import { spawnSync } from "node:child_process";

const {
  REKEY_BASE_URL: baseUrl = "https://api.upstash.com",
  REKEY_DATABASE_PATH: path = "/v2/redis/database/{id}",
  REKEY_USERNAME: username,
  REKEY_PASSWORD: key,
  ...environment
} = process.env;
const [id, command, ...args] = process.argv.slice(2);

const authorization = `Basic ${Buffer.from(`${username}:${key}`).toString("base64")}`;
const url = `${baseUrl}${path.replace("{id}", encodeURIComponent(id))}`;
const response = await fetch(url, {
  headers: { authorization },
  redirect: "error",
  signal: AbortSignal.timeout(60_000),
});
if (!response.ok) throw new Error(`The platform responded with ${response.status}, so nothing is deployed.`);
const { password, rest_token: restToken } = await response.json();
if (!password || password.includes("*")) {
  throw new Error("The platform does not show the password, so nothing is deployed.");
}

const credentials = { REDIS_PASSWORD: password, ...(restToken && { UPSTASH_REDIS_REST_TOKEN: restToken }) };
const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...environment, ...credentials } });
process.exitCode = status ?? 1;
