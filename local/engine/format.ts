import { EngineError, readable, UnsupportedError } from "./errors";
import { type Crypter } from "./secrets";
import {
  type Deployment,
  type ExportedDeployment,
  type OperationType,
  type PendingOperation,
  providerType,
  type ResourceState,
} from "./types";
import { providerUrn } from "./urns";
import { fromJson, isObject, type PropertyMap, type Secret, toJson } from "./values";

type Json = Record<string, unknown>;

/** The order of a resource's keys in the CLI's own files; others follow as they came. */
const keyOrder = [
  "urn,custom,delete,id,type,inputs,outputs,parent,protect,taint,external,dependencies,initErrors,provider",
  "propertyDependencies,pendingReplacement,additionalSecretOutputs,aliases,customTimeouts,importID,retainOnDelete",
  "deletedWith,replaceWith,created,modified,sourcePosition,stackTrace,ignoreChanges,hideDiff,replaceOnChanges",
].flatMap((line) => line.split(","));

/** Turns one resource into what is saved; what is empty is left out, as the CLI does. */
export function resourceToJson(resource: ResourceState, encrypt: (secret: Secret) => Record<string, string>): Json {
  const given: Json = { ...resource };
  const json: Json = {};
  for (const key of new Set([...keyOrder, ...Object.keys(given)])) {
    const value = key === "inputs" || key === "outputs" ? toJson(resource[key], encrypt) : given[key];
    if (key === "custom" || !isEmpty(value)) json[key] = value;
  }
  return json;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Reads one saved resource. */
export function resourceFromJson(json: Json, decrypt: (ciphertext: string) => string): ResourceState {
  const { urn, type } = json;
  if (typeof urn !== "string" || typeof type !== "string")
    throw new EngineError("a resource of the state has no urn or type");
  const properties = (key: string): PropertyMap => {
    const value = readable(`the ${key} of ${urn} in the state`, () => fromJson(json[key] ?? {}, decrypt));
    if (!isObject(value)) throw new EngineError(`the ${key} of ${urn} are no object`);
    return value;
  };
  return {
    ...json,
    urn,
    type,
    custom: json.custom === true,
    inputs: properties("inputs"),
    outputs: properties("outputs"),
  };
}

/** Turns a deployment into the format of `pulumi stack export`. */
export function exportDeployment(deployment: Deployment, crypter: Crypter, showSecrets: boolean): ExportedDeployment {
  const encrypt = encrypter(crypter, showSecrets);
  return {
    version: 3,
    deployment: {
      ...deploymentHead(crypter),
      resources: deployment.resources.map((resource) => resourceToJson(resource, encrypt)),
      ...(deployment.pending.length > 0 && {
        pending_operations: deployment.pending.map(({ resource, type }) => ({
          resource: resourceToJson(resource, encrypt),
          type,
        })),
      }),
      metadata: {},
    },
  };
}

export function deploymentHead(
  crypter: Crypter,
): Pick<ExportedDeployment["deployment"], "manifest" | "secrets_providers"> {
  return {
    manifest: { time: new Date().toISOString(), magic: "", version: "" },
    secrets_providers: { type: "passphrase", state: { salt: crypter.salt } },
  };
}

/** Gives the saved form of a secret; the ciphertext of an unchanged one is used again. */
export function encrypter(crypter: Crypter, showSecrets: boolean): (secret: Secret) => Record<string, string> {
  const known = new WeakMap<Secret, string>();
  const plaintext = (secret: Secret): string => JSON.stringify(toJson(secret.value, encrypt));
  const encrypt = (secret: Secret): Record<string, string> => {
    if (showSecrets) return { plaintext: plaintext(secret) };
    const ciphertext = secret.ciphertext ?? known.get(secret) ?? crypter.encrypt(plaintext(secret));
    known.set(secret, ciphertext);
    return { ciphertext };
  };
  return encrypt;
}

/** The salt that the secrets of an exported deployment were encrypted with. */
export function saltOf(exported: ExportedDeployment): string | undefined {
  const provider = exported.deployment.secrets_providers;
  if (provider !== undefined && provider.type !== "passphrase" && provider.type !== "") {
    throw new UnsupportedError(`a state with secrets of the provider ${JSON.stringify(provider.type)}`);
  }
  return provider?.state?.salt;
}

/** Reads an exported deployment, and refuses one that is broken. */
export function importDeployment(exported: ExportedDeployment, decrypt: (ciphertext: string) => string): Deployment {
  if (exported.version !== 3) throw new UnsupportedError(`a deployment of version ${String(exported.version)}`);
  const { resources = [], pending_operations: pending = [] } = exported.deployment;
  const deployment = {
    resources: resources.map((resource) => resourceFromJson(resource, decrypt)),
    pending: pending.map(({ resource, type }): PendingOperation => {
      return { resource: resourceFromJson(resource, decrypt), type: type as OperationType };
    }),
  };
  verify(deployment.resources);
  return deployment;
}

/** Every reference must be to an earlier resource, and no two live resources may have one name. */
function verify(resources: readonly ResourceState[]): void {
  const seen = new Set<string>();
  const live = new Set<string>();
  for (const resource of resources) {
    const { urn, parent, provider, dependencies = [], propertyDependencies = {} } = resource;
    const needed = [...dependencies, ...Object.values(propertyDependencies).flat()];
    if (parent) needed.push(parent);
    if (provider) needed.push(providerUrn(provider));
    const missing = needed.find((other) => !seen.has(other));
    if (missing !== undefined)
      throw new EngineError(`the state is broken: ${urn} refers to ${missing}, which is not before it`);
    if (!resource.delete && live.has(urn)) throw new EngineError(`the state is broken: ${urn} is in it twice`);
    seen.add(urn);
    if (!resource.delete) live.add(urn);
  }
}

/** Names the first resource that only a real engine can manage. */
export function refuseForeign(resources: readonly ResourceState[]): void {
  for (const { urn, type, custom, external, ...others } of resources) {
    if (external === true) throw new UnsupportedError(`the external resource ${urn}`);
    if (custom && type !== providerType && !type.startsWith("pulumi-nodejs:"))
      throw new UnsupportedError(`${urn}, of a package,`);
    for (const key of [
      "deletedWith",
      "replaceWith",
      "replacementTrigger",
      "viewOf",
      "resourceHooks",
      "extensionRef",
      "snippetID",
    ]) {
      if (!isEmpty((others as Json)[key])) throw new UnsupportedError(`\`${key}\`, which ${urn} has in the state,`);
    }
  }
}
