import { isDeepStrictEqual } from "node:util";
import type { Container } from "../../../kinds/types/container.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { PodSpec } from "../../../kinds/types/pod.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { type Filter, type MakePlugin, unresolvable } from "../plugin.ts";

const NAME = "NodeDeclaredFeatures";
const MISSING = unresolvable(NAME, "node(s) didn't match Pod's required features");

/** Features that a kubelet declares, and which Pods require them. Upstream: nodedeclaredfeatures/features */
const FEATURES: Readonly<Record<string, (spec: PodSpec) => boolean>> = {
  RestartAllContainersOnContainerExits: ({ initContainers = [], containers = [] }) =>
    [...initContainers, ...containers].some(restartsAll),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  VolumeBindMountOptions: ({ initContainers = [], containers = [], ephemeralContainers = [] }) =>
    [...initContainers, ...containers, ...ephemeralContainers].some(hasMountOptions),
};

/** Rejects nodes whose kubelet lacks a feature that the Pod requires. */
export const nodeDeclaredFeatures: MakePlugin = () => ({
  name: NAME,
  events: [
    {
      resource: "Node",
      actions: ["Add", "UpdateNodeDeclaredFeature"],
      hint: (_, before, after) =>
        before === undefined || !isDeepStrictEqual(declaredBy(before as Node), declaredBy(after as Node)),
    },
    {
      resource: "TargetPod",
      actions: ["Update"],
      hint: (_, before, after) => !isDeepStrictEqual(requiredBy(before as Pod), requiredBy(after as Pod)),
    },
  ],
  filter({ pod }): Filter | undefined {
    const required = requiredBy(pod);
    if (required.length === 0) return undefined;
    return {
      check({ node }) {
        const declared = node === undefined ? [] : declaredBy(node);
        return required.every((name) => declared.includes(name)) ? undefined : MISSING;
      },
    };
  },
});

function requiredBy({ spec = {} }: Pod): string[] {
  return Object.entries(FEATURES).flatMap(([name, isRequired]) => (isRequired(spec) ? [name] : []));
}

const NONE: readonly string[] = [];
const declaredBy = ({ status }: Node) => status?.declaredFeatures ?? NONE;

function restartsAll({ restartPolicyRules = [] }: Container): boolean {
  return restartPolicyRules.some(({ action }) => action === "RestartAllContainers");
}

function hasMountOptions({ volumeMounts = [] }: Pick<Container, "volumeMounts">): boolean {
  return volumeMounts.some(({ bindMountOptions }) => Array.isArray(bindMountOptions) && bindMountOptions.length > 0);
}
