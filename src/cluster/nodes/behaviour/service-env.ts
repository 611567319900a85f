import type { Service } from "../../../kinds/types/service.ts";

type Env = Record<string, string>;

/** The Service of the API server, which all Pods see. Upstream: masterServices */
export const API_SERVER_SERVICE = { namespace: "default", name: "kubernetes" } as const;

/** Compat: environment variables for the addresses of Services, as in envvars.FromServices of the kubelet. */
export function serviceEnv(services: readonly Service[]): Env {
  const found: Env = {};
  for (const service of services) Object.assign(found, variablesOf(service));
  return found;
}

function variablesOf({ metadata, spec: { clusterIP = "", ports = [] } = {} }: Service): Env {
  const [first] = ports;
  if (clusterIP === "" || clusterIP === "None" || first === undefined) return {};
  const name = variableName(metadata.name ?? "");
  const found: Env = { [`${name}_SERVICE_HOST`]: clusterIP, [`${name}_SERVICE_PORT`]: `${first.port}` };
  for (const port of ports) {
    if (port.name) found[`${name}_SERVICE_PORT_${variableName(port.name)}`] = `${port.port}`;
  }
  const host = clusterIP.includes(":") ? `[${clusterIP}]` : clusterIP;
  for (const { port = 0, protocol = "TCP" } of ports) {
    const url = `${protocol.toLowerCase()}://${host}:${port}`;
    const link = `${name}_PORT_${port}_${protocol}`;
    found[`${name}_PORT`] ??= url;
    found[link] = url;
    found[`${link}_PROTO`] = protocol.toLowerCase();
    found[`${link}_PORT`] = `${port}`;
    found[`${link}_ADDR`] = clusterIP;
  }
  return found;
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}
