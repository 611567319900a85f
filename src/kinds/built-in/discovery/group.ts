import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, NAME, printFirst, readObjects, readTexts, text } from "../cells.ts";
import { defineKinds } from "../row.ts";
import { endpointSliceHooks } from "./endpoint-slice.ts";

function printPorts(slice: KubeObject): string {
  const ports = readObjects(slice, ".ports");
  return printFirst(
    ports.map((port) => String(port.port ?? port.name ?? "*")),
    3,
  );
}

function printEndpoints(slice: KubeObject): string {
  const addresses = readObjects(slice, ".endpoints").flatMap((endpoint) => readTexts(endpoint, ".addresses"));
  return printFirst(addresses, 3);
}

/** The kinds of discovery.k8s.io: EndpointSlice. */
export const discoveryKinds: ResourceDefinition[] = defineKinds(
  { group: "discovery.k8s.io", schemaPackage: "io.k8s.api.discovery" },
  [
    {
      kind: "EndpointSlice",
      defaults: { "ports[*].name": "", "ports[*].protocol": "TCP" },
      plural: "endpointslices",
      versions: ["v1"],
      columns: [
        NAME,
        column("AddressType", "string", text(".addressType")),
        column("Ports", "string", printPorts),
        column("Endpoints", "string", printEndpoints),
        AGE,
      ],
      rules: { generation: "counted" },
      hooks: endpointSliceHooks,
    },
  ],
);
