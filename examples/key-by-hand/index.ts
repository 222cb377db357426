import * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, RotationTrigger } from "pulumi-rekey";

const config = new pulumi.Config();

// When it is due, each `up` asks for a new key. A new version says that a person has replaced it.
const turn = new RotationTrigger("stripe", {
  byHand: true,
  rotateEvery: config.get("rotateEvery") ?? "90d",
  version: config.get("version"),
});

const proof = new CredentialVerification("stripe", {
  credential: config.requireSecret("stripeKey"),
  triggerValue: turn.value,
  // In place of `https://api.stripe.com/v1/balance`.
  http: { url: `${config.require("server")}/validate` },
});

// Consumers take the key from the proof.
export const stripeKey = proof.credential;
export const waits = turn.waits;
export const formersValid = proof.formersValid;
