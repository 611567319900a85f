import path from "node:path";
import { FeatureGates, type FeatureGateValues, parseFeatureGates } from "../api/feature-gates.ts";
import { flagTypes } from "./apiserver-flags.ts";
import { apiserverGates } from "./apiserver-gates.ts";

/** A command line of kube-apiserver as one of `binnacle serve`. */
export interface ServeArguments {
  readonly args: readonly string[];
  /** What was given and has no effect, as it was written. */
  readonly ignored: readonly string[];
}

/** What the translation depends on. */
export interface Surroundings {
  /** The flags of `binnacle serve`, without dashes. */
  readonly known: ReadonlySet<string>;
  /** Whether nothing but health is behind `--etcd-servers`: objects are kept in memory then. */
  readonly hasNoStore: boolean;
  /** For `--controllers`; kube-apiserver runs none of a controller manager's. */
  readonly controllers: string | undefined;
  /** Where relative paths begin. */
  readonly cwd: string;
}

type Flag = readonly [name: string, value: string];

const isTrue = (value: string): boolean => /^(1|t|true)$/i.test(value);

/** Values that kube-apiserver takes and `binnacle serve` does not know, of flags that it knows. */
const UNMEANT: ReadonlyMap<string, (value: string) => boolean> = new Map([
  // Compat: false is the default there, and refuses `securityContext.privileged`.
  ["allow-privileged", (value) => !isTrue(value)],
]);

/**
 * What `binnacle serve` is to be told so that it does what kube-apiserver would with these flags. Throws, in
 * kube-apiserver's words, when it would not start with them.
 */
export function serveArguments(given: readonly Flag[], surroundings: Surroundings): ServeArguments {
  const { known, hasNoStore, controllers = "none", cwd } = surroundings;
  const ignored: string[] = [];
  const gates = new Map<string, boolean>();
  const flags = new Map<string, string[]>();
  for (const [name, value] of given) {
    if (name === "feature-gates") {
      for (const [gate, on] of readGates(value, ignored)) gates.set(gate, on);
    } else if (!known.has(name) || UNMEANT.get(name)?.(value)) {
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
  if (gates.size > 0) flags.set("feature-gates", [[...gates].map(([name, on]) => `${name}=${on}`).join(",")]);
  const args = [...flags].flatMap(([name, values]) =>
    flagTypes.get(name) === "strings" ? [`--${name}=${values.join(",")}`] : values.map((value) => `--${name}=${value}`),
  );
  return {
    args: [...args, "--custom-objects=defined", `--controllers=${controllers}`],
    ignored: [...new Set(ignored)],
  };
}

const accumulates = (name: string): boolean => /^string(s|Array)$|^map/.test(flagTypes.get(name) ?? "");
/** Flags whose values are files or folders. The process that serves may stand somewhere else than the one that was asked to. */
const PATHS =
  /(-file|-dir|-config|-path|-cafile|-certfile|-keyfile|^kubelet-certificate-authority|^kubelet-client-(certificate|key))$/;
const resolved = (name: string, value: string, cwd: string): string =>
  PATHS.test(name) && value !== "" && value !== "-" ? path.resolve(cwd, value) : value;
const isAboutEtcd = (name: string): boolean => /^etcd-(servers|cafile|certfile|keyfile)$/.test(name);

/** The gates that are switched here, too. The others of the release go to `ignored`. */
function readGates(text: string, ignored: string[]): [string, boolean][] {
  return Object.entries(parseFeatureGates(withoutComponent(text))).filter(([name, on]) => {
    if (!apiserverGates.has(name) && !isSwitchable({ [name]: on }))
      throw new Error(`unrecognized feature gate: ${name}`);
    const isTaken = isSwitchable({ [name]: on });
    if (!isTaken) ignored.push(`--feature-gates=${name}=${on}`);
    return isTaken;
  });
}

/** Compat: `kube:Name=true` names the component that is meant without it. */
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
