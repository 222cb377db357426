import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  ResourceInvokeRequest,
} from "@pulumi/pulumi/proto/resource_pb";
import { type Monitor, NotRegistered, type Registration } from "./component";
import { grpc, properties, struct, unlimited } from "./proto";
import { type Properties } from "../../records/properties";
import { packageVersion } from "../../platform/version";
import { type ComponentOptions } from "../../rotation/componentOptions";

/**
 * The engine's resource monitor for the construction of a component: its options also apply to its children.
 *
 * @param provider reference to the provider of the component, which also has its children
 */
export function monitorFor(construct: ConstructRequest, provider: string): Monitor & { close(): void } {
  const address = construct.getMonitorendpoint();
  const client = new ResourceMonitorClient(address, grpc.credentials.createInsecure(), unlimited);
  return {
    register(resource) {
      const request = registrationOf(resource, construct, provider);
      const name = JSON.stringify(resource.name);
      return new Promise((resolve, reject) => {
        client.registerResource(request, (error, response) => {
          if (error) reject(new NotRegistered(`its resource ${name} failed (${error.details})`));
          else resolve({ urn: response.getUrn(), outputs: properties(response.getObject()) });
        });
      });
    },
    registerOutputs(urn, outputs) {
      const request = new RegisterResourceOutputsRequest().setUrn(urn).setOutputs(struct(outputs));
      return new Promise((resolve, reject) => {
        client.registerResourceOutputs(request, (error) => (error ? reject(error) : resolve()));
      });
    },
    read(urn) {
      const request = new ResourceInvokeRequest().setTok("pulumi:pulumi:getResource").setArgs(struct({ urn }));
      return new Promise((resolve, reject) => {
        client.invoke(request, (error, response) => {
          if (error) reject(error);
          else resolve((properties(response.getReturn())["state"] ?? {}) as Properties);
        });
      });
    },
    close: () => client.close(),
  };
}

/** The request that registers a component, or a child of one, with the options of the component. */
function registrationOf(
  { type, name, parent, custom, inputs, aliases }: Registration,
  construct: ConstructRequest,
  provider: string,
): RegisterResourceRequest {
  const request = new RegisterResourceRequest()
    .setType(type)
    .setName(name)
    .setParent(parent)
    .setCustom(custom)
    .setObject(struct(inputs))
    .setAcceptsecrets(true)
    .setSupportspartialvalues(true)
    .setAliasspecs(true)
    .setAliasesList(aliases.map(aliasOf))
    .setVersion(packageVersion())
    .setDependenciesList(dependenciesOf(construct));
  request.setDeletedwith(construct.getDeletedwith());
  // An option that is not set is inherited.
  const [retainOnDelete, protect] = [flagOf(construct, "Retainondelete"), flagOf(construct, "Protect")];
  if (retainOnDelete !== undefined) request.setRetainondelete(retainOnDelete);
  if (protect !== undefined) request.setProtect(protect);
  if (custom) setChildOptions(request, construct, provider);
  else setComponentOptions(request, construct);
  return request;
}

/** The URNs that the component depends on, by `dependsOn` or by its inputs. */
function dependenciesOf(construct: ConstructRequest): string[] {
  const inputDependencies = construct.getInputdependenciesMap().entries() as Iterable<
    [string, { getUrnsList(): string[] }]
  >;
  const ofInputs = [...inputDependencies].flatMap(([, urns]) => urns.getUrnsList());
  return [...new Set([...construct.getDependenciesList(), ...ofInputs])];
}

function aliasOf({ type, parent }: Registration["aliases"][number]): Alias {
  const spec = new Alias.Spec().setType(type);
  if (parent === "") spec.setNoparent(true);
  else if (parent !== undefined) spec.setParenturn(parent);
  return new Alias().setSpec(spec);
}

/** What only a resource with a provider has. */
function setChildOptions(request: RegisterResourceRequest, construct: ConstructRequest, provider: string): void {
  request.setProvider(provider).setIgnorechangesList(construct.getIgnorechangesList());
  const deleteBeforeReplace = flagOf(construct, "Deletebeforereplace");
  request.setDeletebeforereplacedefined(deleteBeforeReplace !== undefined);
  request.setDeletebeforereplace(deleteBeforeReplace ?? false);
  // Both requests write these two in the same way.
  const { CustomTimeouts, ResourceHooksBinding } = RegisterResourceRequest;
  const timeouts = construct.getCustomtimeouts()?.serializeBinary();
  if (timeouts) request.setCustomtimeouts(CustomTimeouts.deserializeBinary(timeouts));
  const hooks = (construct as Partial<ConstructRequest>).getResourceHooks?.()?.serializeBinary();
  if (hooks) request.setHooks(ResourceHooksBinding.deserializeBinary(hooks));
}

/** What only the component itself has: the aliases of the program, and the providers of its children. */
function setComponentOptions(request: RegisterResourceRequest, construct: ConstructRequest): void {
  construct.getAliasesList().forEach((alias) => request.addAliases(alias));
  for (const [name, provider] of construct.getProvidersMap().entries() as Iterable<[string, string]>) {
    request.getProvidersMap().set(name, provider);
  }
}

/** The options of a component that need a check. */
export function optionsOf(construct: ConstructRequest): ComponentOptions {
  const older: Partial<ConstructRequest> = construct;
  return {
    ignoreChanges: construct.getIgnorechangesList(),
    replaceOnChanges: construct.getReplaceonchangesList(),
    replaceWith: older.getReplaceWithList?.(),
    replacementTrigger: older.getReplacementTrigger?.(),
  };
}

/** A flag of the program; undefined if it is not set. The oldest SDKs do not pass on a false one. */
function flagOf(construct: ConstructRequest, option: "Deletebeforereplace" | "Protect" | "Retainondelete") {
  const older: Partial<ConstructRequest> = construct;
  const value = construct[`get${option}`]();
  return (older[`has${option}`]?.() ?? value) ? value : undefined;
}
