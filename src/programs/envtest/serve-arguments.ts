import path from "node:path";
import { FeatureGates, type FeatureGateValues, parseFeatureGates } from "../../base/api/feature-gates.ts";
import { parseBool } from "../../base/go/parse-bool.ts";
import { flagTypes } from "./apiserver-flags.ts";
import { apiserverGates } from "./apiserver-gates.ts";

/** A kube-apiserver command line translated to `binnacle serve`. */
export interface ServeArguments {
  readonly args: readonly string[];
  /** Given flags that have no effect, as written. */
  readonly ignored: readonly string[];
}

/** Context of the translation. */
export interface Surroundings {
  /** The flags of `binnacle serve`, without dashes. */
  readonly known: ReadonlySet<string>;
  /** Whether the etcd at `--etcd-servers` only serves health checks: objects are then kept in memory. */
  readonly hasNoStore: boolean;
  /** Value for `--controllers`. Default: none, since kube-apiserver runs no controllers of a controller manager. */
  readonly controllers: string | undefined;
  /** Number of simulated nodes. If it is set, all controllers and the scheduler run as well. */
  readonly nodes: string | undefined;
  /** Base of relative paths. */
  readonly cwd: string;
}

type Flag = readonly [name: string, value: string];

/** Values that kube-apiserver accepts but `binnacle serve` does not, of flags that both have. */
const UNSUPPORTED_VALUES: ReadonlyMap<string, (value: string) => boolean> = new Map([
  // Compat: false is the default there, and forbids `securityContext.privileged`.
  ["allow-privileged", (value) => parseBool(value) !== true],
]);

/**
 * Translates kube-apiserver flags to arguments of `binnacle serve` with the same effect. Throws kube-apiserver's error
 * if it would not start with these flags.
 */
export function serveArguments(given: readonly Flag[], surroundings: Surroundings): ServeArguments {
  const { known, hasNoStore, nodes, cwd } = surroundings;
  const { controllers = nodes === undefined ? "none" : "*" } = surroundings;
  const ignored: string[] = [];
  const gates = new Map<string, boolean>();
  const flags = new Map<string, string[]>();
  for (const [name, value] of given) {
    if (name === "feature-gates") {
      for (const [gate, on] of readGates(value, ignored)) gates.set(gate, on);
    } else if (!known.has(name) || UNSUPPORTED_VALUES.get(name)?.(value)) {
      ignored.push(`--${name}`);
    } else {
      flags.set(name, [...(accumulates(name) ? (flags.get(name) ?? []) : []), resolved(name, value, cwd)]);
    }
  }
  if (!flags.has("etcd-servers")) throw new Error("--etcd-servers must be specified");
  if (hasNoStore) {
    for (const name of [...flags.keys()].filter(isAboutEtcd)) flags.delete(name);
    flags.set("store", ["memory"]);
  }
  if (!flags.has("authorization-mode") && !flags.has("authorization-config")) {
    flags.set("authorization-mode", ["AlwaysAllow"]);
    // Compat: `AnonymousAuth is not allowed with the AlwaysAllow authorizer`.
    flags.set("anonymous-auth", ["false"]);
  }
  const modes = flags.get("authorization-mode")?.flatMap((value) => value.split(",")) ?? [];
  // Without it, nodes may do nothing.
  if (nodes !== undefined && modes.includes("RBAC") && !modes.includes("Node")) {
    flags.set("authorization-mode", ["Node", ...modes]);
  }
  if (gates.size > 0) flags.set("feature-gates", [[...gates].map(([name, on]) => `${name}=${on}`).join(",")]);
  const args = [...flags].flatMap(([name, values]) =>
    flagTypes.get(name) === "strings" ? [`--${name}=${values.join(",")}`] : values.map((value) => `--${name}=${value}`),
  );
  return {
    args: [...args, "--custom-objects=defined", `--controllers=${controllers}`, ...clusterArguments(nodes)],
    ignored: [...new Set(ignored)],
  };
}

const clusterArguments = (nodes: string | undefined): string[] =>
  nodes === undefined ? [] : ["--scheduler", `--simulated-nodes=${nodes}`];

const accumulates = (name: string): boolean => /^string(s|Array)$|^map/.test(flagTypes.get(name) ?? "");
/** Flags whose values are files or folders. The serving process may have another working directory. */
const PATHS =
  /(-file|-dir|-config|-path|-cafile|-certfile|-keyfile|^kubelet-certificate-authority|^kubelet-client-(certificate|key))$/;
const resolved = (name: string, value: string, cwd: string): string =>
  PATHS.test(name) && value !== "" && value !== "-" ? path.resolve(cwd, value) : value;
const isAboutEtcd = (name: string): boolean => /^etcd-(servers|cafile|certfile|keyfile)$/.test(name);

/** The gates that Binnacle can switch. Other gates of the release are added to `ignored`. */
function readGates(text: string, ignored: string[]): [string, boolean][] {
  return Object.entries(parseFeatureGates(withoutComponent(text))).filter(([name, on]) => {
    if (!apiserverGates.has(name) && !isSwitchable({ [name]: on }))
      throw new Error(`unrecognized feature gate: ${name}`);
    const isTaken = isSwitchable({ [name]: on });
    if (!isTaken) ignored.push(`--feature-gates=${name}=${on}`);
    return isTaken;
  });
}

/** Compat: `kube:Name=true` is the same as `Name=true`. */
function withoutComponent(text: string): string {
  const parts = text.split(",").map((part) => {
    const [, component, rest] = /^([^:=]*):(.*)$/s.exec(part.trim()) ?? [];
    if (component === undefined) return part;
    if (component !== "kube") throw new Error(`component not registered: ${component}`);
    return rest;
  });
  return parts.join(",");
}

function isSwitchable(gates: FeatureGateValues): boolean {
  try {
    return new FeatureGates(gates) !== undefined;
  } catch {
    return false;
  }
}
