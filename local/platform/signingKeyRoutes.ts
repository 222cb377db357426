import { type Hono } from "hono";
import { type CredentialDelivery, isInRead, isInReset } from "./credentialDelivery";
import { allowOnly, type Env, json } from "./responses";
import { type SigningKeys, type SigningKeyStore } from "./signingKeys";

/** Signing keys: reading and rolling them. */
export function addSigningKeyRoutes(app: Hono<Env>, keys: SigningKeyStore, delivery: CredentialDelivery): void {
  app.get("/v2/keys", () => json(sent(keys.inUse, isInRead(delivery))));
  app.post("/v2/keys/rotate", (c) => json(sent(keys.roll(c.get("fault")), isInReset(delivery))));
  allowOnly(app, ["GET"], ["/v2/keys"]);
  allowOnly(app, ["POST"], ["/v2/keys/rotate"]);
}

function sent({ current, next }: SigningKeys, withKeys: boolean): object {
  return withKeys ? { current, next } : {};
}
