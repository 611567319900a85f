import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import { labelValue } from "../../../../base/api/names.ts";
import type { ObjectMeta } from "../../../../base/api/object.ts";
import { isSidecar } from "../../../types/container.ts";
import type { PodAffinity, PodSpec } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import { pushOwnFileErrors } from "../../shared-rules/file-paths.ts";
import { validateLabelSelector } from "../../shared-rules/label-selector.ts";
import { isHugePages, isMultipleOfPages } from "../../shared-rules/resource-names.ts";
import { hostSetting } from "../container/security-context-validation.ts";
import { validateLabelKeys, validateTermSelectors } from "./affinity-validation.ts";
import { hasInvalidDeletionCost } from "./pod-annotation-validation.ts";
import type { PodOptions } from "./pod-options.ts";
import { spreadSelector } from "./scheduling-validation.ts";

const STRICT: PodOptions = {
  isPod: false,
  allowsInvalidDeletionCost: false,
  allowsPartsOfPages: false,
  allowsInvalidSelectorValues: false,
  allowsInvalidNodeValues: false,
  allowsInvalidSpreadSelector: false,
  spreadKeysWereWrong: false,
  allowsAnyTokenPath: false,
  allowsHostSysctls: false,
  allowsInitRestartOnResize: false,
  allowsDevicesOfOwnUsers: false,
  allowsHostNetworkOfOwnUsers: false,
  allowsEmptyImageReference: false,
  allowsSysAdmin: false,
  allowsComparisons: false,
};
/** The options where upstream passes an empty `PodValidationOptions`, regardless of feature gates. */
export const strictOptions: PodOptions = STRICT;

const STRICT_POD: PodOptions = { ...STRICT, isPod: true };

/**
 * The PodValidationOptions for a pod or template, given the stored one. Upstream:
 * `GetValidationOptionsFromPodSpecAndMeta`.
 */
export function podOptions(
  features: FeatureGates,
  isPod: boolean,
  spec: PodSpec | undefined,
  metadata: ObjectMeta | undefined,
): PodOptions {
  const isComparing = features.enabled("TaintTolerationComparisonOperators");
  const isHostNetworked = features.enabled("UserNamespacesHostNetworkSupport");
  if (!spec) {
    const strict = isPod ? STRICT_POD : STRICT;
    if (!isComparing && !isHostNetworked) return strict;
    return { ...strict, allowsComparisons: isComparing, allowsHostNetworkOfOwnUsers: isHostNetworked };
  }
  const containers = containersWithPaths(spec, "").map(({ container }) => container);
  const spread = spec.topologySpreadConstraints ?? [];
  const hasOwnUsers = spec.hostUsers === false;
  const { sysctls = [] } = spec.securityContext ?? {};
  return {
    isPod,
    allowsInvalidDeletionCost: hasInvalidDeletionCost(metadata?.annotations ?? {}),
    allowsPartsOfPages: hasPartsOfPages(spec),
    allowsInvalidSelectorValues:
      hasInvalidSelector(spec.affinity?.podAffinity) || hasInvalidSelector(spec.affinity?.podAntiAffinity),
    allowsInvalidNodeValues: hasInvalidNodeValue(spec),
    allowsInvalidSpreadSelector: spread.some((one) => validateLabelSelector(one.labelSelector, "").length > 0),
    spreadKeysWereWrong: spread.some((one) => validateLabelKeys(spreadSelector(one), "").length > 0),
    allowsAnyTokenPath: hasForeignTokenPath(spec),
    allowsHostSysctls: sysctls.some((one) => hostSetting(one, spec) !== undefined),
    allowsInitRestartOnResize: hasInitRestartOnResize(spec),
    allowsDevicesOfOwnUsers: hasOwnUsers && containers.some(({ volumeDevices = [] }) => volumeDevices.length > 0),
    allowsHostNetworkOfOwnUsers: isHostNetworked || (hasOwnUsers && spec.hostNetwork === true),
    allowsEmptyImageReference: (spec.volumes ?? []).some(({ image }) => image && (image.reference ?? "") === ""),
    allowsSysAdmin: containers.some(
      ({ securityContext: context }) =>
        context?.allowPrivilegeEscalation !== true && context?.capabilities?.add?.includes("CAP_SYS_ADMIN"),
    ),
    allowsComparisons:
      isComparing || (spec.tolerations ?? []).some(({ operator }) => operator === "Lt" || operator === "Gt"),
  };
}

function hasPartsOfPages(spec: PodSpec): boolean {
  const lists = containersWithPaths(spec, "").flatMap(({ container: { resources } }) => [
    resources?.limits ?? {},
    resources?.requests ?? {},
  ]);
  return [...lists, spec.overhead ?? {}].some((list) =>
    Object.entries(list).some(([name, amount]) => isHugePages(name) && !isMultipleOfPages(name, amount)),
  );
}

function hasInvalidSelector(affinity: PodAffinity | undefined): boolean {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms = [...required, ...preferred.map(({ podAffinityTerm = {} }) => podAffinityTerm)];
  return terms.some((term) => validateTermSelectors(term, "").length > 0);
}

function hasInvalidNodeValue(spec: PodSpec): boolean {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (required?.nodeSelectorTerms ?? []).some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ values = [] }) => values.some((value) => labelValue(value).length > 0)),
  );
}

function hasForeignTokenPath({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken: token }) => {
      const errors: Parameters<typeof pushOwnFileErrors>[0] = [];
      if (token) pushOwnFileErrors(errors, "", token.path ?? "");
      return errors.length > 0;
    }),
  );
}

function hasInitRestartOnResize({ initContainers = [] }: PodSpec): boolean {
  return initContainers.some(
    (container) =>
      !isSidecar(container) &&
      container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === "RestartContainer"),
  );
}
