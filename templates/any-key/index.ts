import * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, RotationTrigger } from "pulumi-rekey";
import { Deployment } from "./deployment";
import { ApiKey } from "./apiKey";

const config = new pulumi.Config();
const server = config.require("server");

const turn = new RotationTrigger("orders", { rotateEvery: "30d", version: config.get("version") });

// In place of the key of your vendor's provider, such as `datadog.ApiKey`.
const key = new ApiKey("orders", { server }, { replacementTrigger: turn.value });

const proof = new CredentialVerification("orders", { credential: key.key, http: { url: `${server}/validate` } });

// Consumers take the key from the proof. If the proof or the deployment fails, the former key stays valid until an `up`
// in which both succeed.
new Deployment("consumers", { file: config.require("file"), secret: proof.credential });

export const turnedAt = turn.turnedAt;
export const verifiedAt = proof.verifiedAt;
export const formerRefused = proof.formerRefused;
