import type { MakePlugin } from "./plugin.ts";
import { nodeName } from "./plugins/node-name.ts";

/** A plugin of the default profile. */
export interface DefaultPlugin {
  readonly name: string;
  readonly make: MakePlugin<never>;
  /** Factor of its scores. Absent if it has none. */
  readonly weight?: number;
  /** Its arguments unless KubeSchedulerConfiguration sets others. */
  readonly args?: unknown;
}

/** In the order in which kube-scheduler runs them: the first that rejects a node gives the reason. */
export const DEFAULT_PLUGINS: readonly DefaultPlugin[] = [{ name: "NodeName", make: nodeName }];
