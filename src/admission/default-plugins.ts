import type { Resources } from "../resources/resources.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import { defaultIngressClass, defaultStorageClass } from "./plugins/default-class.ts";
import { defaultTolerationSeconds } from "./plugins/default-toleration-seconds.ts";
import { podGroupProtection, storageObjectInUseProtection } from "./plugins/in-use-protection.ts";
import { namespaceLifecycle } from "./plugins/namespace-lifecycle.ts";
import { priority } from "./plugins/priority.ts";
import { serviceAccount } from "./plugins/service-account.ts";
import { taintNodesByCondition } from "./plugins/taint-nodes-by-condition.ts";

/** The plugins that are on by default, in the order in which they run. */
export function defaultPlugins(resources: Resources): AdmissionPlugin[] {
  const { access } = resources;
  return [
    namespaceLifecycle(resources),
    serviceAccount(access),
    taintNodesByCondition,
    priority(access),
    defaultTolerationSeconds,
    defaultStorageClass(access),
    storageObjectInUseProtection,
    podGroupProtection,
    defaultIngressClass(access),
  ];
}

/** What is left of the plugins after some were switched off. Throws when a name is unknown. */
export function selectPlugins(
  plugins: readonly AdmissionPlugin[],
  disabled: readonly string[],
): readonly AdmissionPlugin[] {
  for (const name of disabled) {
    if (!plugins.some((plugin) => plugin.name === name)) throw new Error(`unknown admission plugin ${name}`);
  }
  return plugins.filter((plugin) => !disabled.includes(plugin.name));
}
