import { z } from "zod";
import { EngineError, firstIssue, readable, UnsupportedError } from "./errors";
import { type Crypter } from "./secrets";
import { providerType, providerUrn } from "./urns";
import { type PropertyValue } from "./values";

const texts = z.array(z.string()).optional();
const flag = z.boolean().optional();
const properties = z.record(z.string(), z.custom<PropertyValue>()).default({});

/** What the engine knows of a resource. Whatever else a real engine saved stays as it is. */
const resource = z.looseObject({
  urn: z.string(),
  custom: z.boolean().default(false),
  /** Replaced, and waiting to be deleted. */
  delete: flag,
  id: z.string().optional(),
  type: z.string(),
  inputs: properties,
  outputs: properties,
  parent: z.string().optional(),
  protect: flag,
  dependencies: texts,
  initErrors: texts,
  provider: z.string().optional(),
  propertyDependencies: z.record(z.string(), z.array(z.string())).optional(),
  /** Deleted to be created anew, which has not happened yet. */
  pendingReplacement: flag,
  additionalSecretOutputs: texts,
  retainOnDelete: flag,
  created: z.string().optional(),
  modified: z.string().optional(),
  ignoreChanges: texts,
  replaceOnChanges: texts,
});

const pendingOperation = z.looseObject({ resource, type: z.string() });
const deployment = z.looseObject({
  secrets_providers: z
    .looseObject({ type: z.string(), state: z.looseObject({ salt: z.string().optional() }).optional() })
    .optional(),
  resources: z.array(resource).default([]),
  pending_operations: z.array(pendingOperation).default([]),
});
const exported = z.looseObject({ version: z.number(), deployment });

interface Deployment extends z.input<typeof deployment> {}

/** The format of `pulumi stack export`. */
export interface ExportedDeployment {
  /** Version of the format. */
  version: number;
  /** Resources, what was being done when the last operation ended, and how secrets are encrypted. */
  deployment: Deployment;
  [field: string]: unknown;
}
/** A resource as the state keeps it. The names are those of `pulumi stack export`. */
export type ResourceState = z.infer<typeof resource>;
/** What was being done when the last operation ended, and nobody knows whether it was. */
export type PendingOperation = z.infer<typeof pendingOperation>;
/** All that a stack's state holds. */
export interface StackState {
  readonly resources: ResourceState[];
  readonly pending: PendingOperation[];
}

/** What to do about a state that cannot be used. */
export const mendState =
  "Nothing was changed: correct it, or put an earlier one in its place with `rekey-local import`";

/**
 * Checks a deployment as `pulumi stack export` writes it.
 *
 * @param name what it is called in the error
 * @throws EngineError that names the first field that is not as it should be
 */
export function checkExported(json: unknown, name: string): z.infer<typeof exported> {
  const result = exported.safeParse(json);
  if (result.success) return result.data;
  throw new EngineError(`${name} is broken: ${firstIssue(result.error)}. ${mendState}`);
}

/** The salt that the secrets of a deployment were encrypted with. */
export function saltOf({ deployment }: ExportedDeployment): string | undefined {
  const { type, state } = deployment.secrets_providers ?? { type: "" };
  if (type !== "passphrase" && type !== "") {
    throw new UnsupportedError(`a state with secrets of the provider ${JSON.stringify(type)}`);
  }
  return state?.salt;
}

/** Reads a deployment. @throws EngineError when it is broken, or only a real engine can manage it */
export function readDeployment(json: z.infer<typeof exported>, crypter: Crypter): StackState {
  if (json.version !== 3) throw new UnsupportedError(`a deployment of version ${json.version}`);
  const unseal = (saved: ResourceState): ResourceState => {
    const { inputs, outputs } = saved;
    return readable(`the resource ${saved.urn} of the state`, mendState, () => {
      return { ...saved, inputs: crypter.unseal(inputs), outputs: crypter.unseal(outputs) };
    });
  };
  const resources = json.deployment.resources.map(unseal);
  resources.forEach(refuseForeign);
  verify(resources);
  const pending = json.deployment.pending_operations.map(({ resource, type }) => ({
    resource: unseal(resource),
    type,
  }));
  return { resources, pending };
}

/** Every reference must be to an earlier resource, and no two live resources may have one name. */
function verify(resources: readonly ResourceState[]): void {
  const seen = new Set<string>();
  const live = new Set<string>();
  for (const { urn, parent, provider, delete: replaced, ...saved } of resources) {
    const needed = [...(saved.dependencies ?? []), ...Object.values(saved.propertyDependencies ?? {}).flat()];
    if (parent) needed.push(parent);
    if (provider) needed.push(providerUrn(provider));
    const missing = needed.find((other) => !seen.has(other));
    if (missing !== undefined) {
      throw new EngineError(`the state is broken: ${urn} refers to ${missing}, which is not before it. ${mendState}`);
    }
    if (!replaced && live.has(urn)) throw new EngineError(`the state is broken: ${urn} is in it twice. ${mendState}`);
    seen.add(urn);
    if (!replaced) live.add(urn);
  }
}

const foreign = "external deletedWith replaceWith replacementTrigger viewOf resourceHooks extensionRef snippetID".split(
  " ",
);

function refuseForeign(resource: ResourceState): void {
  const { urn, type, custom } = resource;
  if (custom && type !== providerType && !type.startsWith("pulumi-nodejs:")) {
    throw new UnsupportedError(`${urn}, of a package,`);
  }
  const found = foreign.find((key) => !isEmpty(resource[key]));
  if (found !== undefined) throw new UnsupportedError(`\`${found}\`, which ${urn} has in the state,`);
}

/** Writes a resource; what is empty is left out, as the CLI does. */
export function resourceText(resource: ResourceState, crypter: Crypter, showSecrets = false): string {
  const { inputs, outputs } = resource;
  const saved = { ...resource, inputs: crypter.seal(inputs, showSecrets), outputs: crypter.seal(outputs, showSecrets) };
  const kept = Object.entries(saved).filter(([key, value]) => key === "custom" || !isEmpty(value));
  return JSON.stringify(Object.fromEntries(kept));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Writes a state in the format of `pulumi stack export`. @param textOf writes a resource */
export function stateText(state: StackState, salt: string, textOf: (resource: ResourceState) => string): string {
  const pending = state.pending.map(({ resource, type }) => `{"resource":${textOf(resource)},"type":"${type}"}`);
  const parts = [
    `"manifest":${JSON.stringify({ time: new Date().toISOString(), magic: "", version: "" })}`,
    `"secrets_providers":${JSON.stringify({ type: "passphrase", state: { salt } })}`,
    `"resources":[\n${state.resources.map(textOf).join(",\n")}\n]`,
    ...(pending.length > 0 ? [`"pending_operations":[\n${pending.join(",\n")}\n]`] : []),
    '"metadata":{}',
  ];
  return `{"version":3,"deployment":{${parts.join(",")}}}\n`;
}
