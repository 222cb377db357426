import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import { RegisterResourceOutputsRequest, RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import { packageVersion } from "../version";
import { type Monitor } from "./fleet";
import { grpc, properties, struct, unlimited } from "./proto";

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
    register({ type, name, parent, custom, inputs, formerTypes }) {
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
      const retainOnDelete = construct.getRetainondelete();
      if (retainOnDelete !== undefined) request.setRetainondelete(retainOnDelete);
      const protect = construct.getProtect();
      if (protect !== undefined) request.setProtect(protect);
      const aliases = formerTypes.map((one) => new Alias().setSpec(new Alias.Spec().setType(one)));
      if (custom) {
        request.setProvider(provider);
        const timeouts = construct.getCustomtimeouts();
        if (timeouts) {
          const own = new RegisterResourceRequest.CustomTimeouts();
          request.setCustomtimeouts(own.setCreate(timeouts.getCreate()).setUpdate(timeouts.getUpdate()));
        }
      } else {
        aliases.push(...construct.getAliasesList());
        for (const [name, provider] of construct.getProvidersMap().entries() as Iterable<[string, string]>) {
          request.getProvidersMap().set(name, provider);
        }
      }
      request.setAliasesList(aliases);
      return new Promise((resolve, reject) => {
        client.registerResource(request, (error, response) => {
          if (error) reject(error);
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
    close: () => client.close(),
  };
}
