import { z } from "zod";
import { EngineError, firstIssue, readable, UnsupportedError } from "./errors";
import { type Crypter } from "./secrets";
import { providerType, providerUrn } from "./urns";
import { type PropertyValue } from "./values";

const texts = z.array(z.string()).optional();
const flag = z.boolean().optional();
const properties = z.record(z.string(), z.custom<PropertyValue>()).default({});

/** The fields of a resource that this engine uses. Others that Pulumi's engine saved are preserved. */
const resource = z.looseObject({
  urn: z.string(),
  custom: z.boolean().default(false),
  /** Whether it was replaced and still has to be deleted. */
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
  /** Whether it was deleted for a replacement that has not been created yet. */
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
  /** Resources, pending operations, and the encryption of secrets. */
  deployment: Deployment;
  [field: string]: unknown;
}
/** A resource in the state, with the field names of `pulumi stack export`. */
export type ResourceState = z.infer<typeof resource>;
/** A step that was interrupted, with an unknown result. */
export type PendingOperation = z.infer<typeof pendingOperation>;
/** The state of a stack. */
export interface StackState {
  readonly resources: ResourceState[];
  readonly pending: PendingOperation[];
}

/** Advice for a state that cannot be used. */
export const fixState =
  "Nothing was changed. Correct the state, or replace it with an earlier one: `rekey-local import`";

/**
 * Checks a deployment as `pulumi stack export` writes it.
 *
 * @param name its name in the error message
 * @throws EngineError that names the first invalid field
 */
export function checkExported(json: unknown, name: string): z.infer<typeof exported> {
  const result = exported.safeParse(json);
  if (result.success) return result.data;
  throw new EngineError(`${name} is invalid: ${firstIssue(result.error)}. ${fixState}`);
}

/** The encryption salt of a deployment. */
export function saltOf({ deployment }: ExportedDeployment): string | undefined {
  const { type, state } = deployment.secrets_providers ?? { type: "" };
  if (type !== "passphrase" && type !== "") {
    throw new UnsupportedError(`a state with secrets of the provider ${JSON.stringify(type)}`);
  }
  return state?.salt;
}

/** Reads a deployment. @throws EngineError if it is invalid or only the CLI supports it */
export function readDeployment(json: z.infer<typeof exported>, crypter: Crypter): StackState {
  if (json.version !== 3) throw new UnsupportedError(`a deployment of version ${json.version}`);
  const unseal = (saved: ResourceState): ResourceState => {
    const { inputs, outputs } = saved;
    return readable(`the resource ${saved.urn} of the state`, fixState, () => {
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

/** Checks that references are to earlier resources, and that the URNs of live resources are unique. */
function verify(resources: readonly ResourceState[]): void {
  const seen = new Set<string>();
  const live = new Set<string>();
  for (const { urn, parent, provider, delete: replaced, ...saved } of resources) {
    const needed = [...(saved.dependencies ?? []), ...Object.values(saved.propertyDependencies ?? {}).flat()];
    if (parent) needed.push(parent);
    if (provider) needed.push(providerUrn(provider));
    const missing = needed.find((other) => !seen.has(other));
    if (missing !== undefined) {
      throw new EngineError(
        `the state is invalid: ${urn} refers to ${missing}, which does not precede it. ${fixState}`,
      );
    }
    if (!replaced && live.has(urn)) {
      throw new EngineError(`the state is invalid: it contains ${urn} twice. ${fixState}`);
    }
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
    throw new UnsupportedError(`${urn}, a resource of a package,`);
  }
  const found = foreign.find((key) => !isEmpty(resource[key]));
  if (found !== undefined) throw new UnsupportedError(`the field \`${found}\` of ${urn} in the state`);
}

/** The JSON of a resource. Empty fields are omitted, as by the CLI. */
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

/** The text of a state, in the format of `pulumi stack export`. @param textOf returns the JSON of a resource */
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
