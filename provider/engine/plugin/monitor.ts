import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  ResourceInvokeRequest,
} from "@pulumi/pulumi/proto/resource_pb";
import { type Monitor, NotRegistered } from "./component";
import { grpc, properties, struct, unlimited } from "./proto";
import { type Properties } from "../../records/properties";
import { packageVersion } from "../../runtime";
import { type ComponentOptions } from "../../rotation/componentOptions";

/**
 * The engine's resource monitor for the construction of a component: its options also apply to its children.
 *
 * @param provider reference to the provider of the component, which also has its children
 */
export function monitorFor(construct: ConstructRequest, provider: string): Monitor & { close(): void } {
  const address = construct.getMonitorendpoint();
  const client = new ResourceMonitorClient(address, grpc.credentials.createInsecure(), unlimited);
  const inputDependencies = [...construct.getInputdependenciesMap().entries()] as [
    string,
    { getUrnsList(): string[] },
  ][];
  const dependencies = new Set([
    ...construct.getDependenciesList(),
    ...inputDependencies.flatMap(([, urns]) => urns.getUrnsList()),
  ]);
  return {
    register({ type, name, parent, custom, inputs, aliases: formers }) {
      const request = new RegisterResourceRequest()
        .setType(type)
        .setName(name)
        .setParent(parent)
        .setCustom(custom)
        .setObject(struct(inputs))
        .setAcceptsecrets(true)
        .setSupportspartialvalues(true)
        .setAliasspecs(true)
        .setVersion(packageVersion())
        .setDependenciesList([...dependencies]);
      request.setDeletedwith(construct.getDeletedwith());
      // An option that is not set is inherited.
      const [retainOnDelete, protect] = [flagOf(construct, "Retainondelete"), flagOf(construct, "Protect")];
      if (retainOnDelete !== undefined) request.setRetainondelete(retainOnDelete);
      if (protect !== undefined) request.setProtect(protect);
      const aliases = formers.map(({ type, parent }) => {
        const spec = new Alias.Spec().setType(type);
        if (parent === "") spec.setNoparent(true);
        else if (parent !== undefined) spec.setParenturn(parent);
        return new Alias().setSpec(spec);
      });
      if (custom) {
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
      } else {
        aliases.push(...construct.getAliasesList());
        for (const [name, provider] of construct.getProvidersMap().entries() as Iterable<[string, string]>) {
          request.getProvidersMap().set(name, provider);
        }
      }
      request.setAliasesList(aliases);
      return new Promise((resolve, reject) => {
        client.registerResource(request, (error, response) => {
          if (error) reject(new NotRegistered(`its resource ${JSON.stringify(name)} failed (${error.details})`));
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
