import type { JsonObject } from "../../../src/base/api/object.ts";
import type { PersistentVolumeClaim } from "../../../src/kinds/types/persistent-volume.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { NamespaceView } from "./cluster-view.ts";
import type { Action, Step, WorkloadKind, World } from "./steps.ts";
import { NODE_LABEL } from "./templates.ts";
import {
  ACCESS_MODES,
  attributesOf,
  CLAIM_NAMES,
  claimsOf,
  classFixtures,
  freeName,
  isCompeting,
  randomAttributes,
  randomClass,
  randomMode,
  VOLUME_COMPONENTS,
  VOLUME_CONTROLLERS,
  VOLUME_NAMES,
  volumesOf,
} from "./volume-parts.ts";
import { changeAction, deleteAction, holdAction, isKept } from "./workload-actions.ts";

const COLLECTION = { kind: "PersistentVolumeClaim", root: "/api/v1", plural: "persistentvolumeclaims" };

const CHANGES: readonly JsonObject[] = [
  ...["2Gi", "3Gi", "8Gi"].map((storage) => ({ spec: { resources: { requests: { storage } } } })),
  { metadata: { labels: { stage: "test" } } },
];

/** Creates a Pod on the nodes of the sequence. */
function createPod(world: World, name: string, volume: JsonObject): Step {
  const spec = {
    automountServiceAccountToken: false,
    nodeSelector: { [NODE_LABEL]: world.namespace },
    containers: [{ name: "main", image: "user" }],
    volumes: [{ name: "data", ...volume }],
  };
  const path = `/api/v1/namespaces/${world.namespace}/pods`;
  return {
    title: `create Pod ${name} with ${JSON.stringify(volume)}`,
    requests: () => [{ method: "POST", path, body: { metadata: { name }, spec } }],
  };
}

const useAction: Action<PersistentVolumeClaim> = {
  weight: 4,
  plan: (world, { metadata }) =>
    createPod(world, `user-${world.nextNumber()}`, { persistentVolumeClaim: { claimName: metadata.name } }),
};

/** No volume has the class of its claim. */
const ephemeralAction: Action<PersistentVolumeClaim> = {
  weight: 1,
  plan(world) {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: `${world.namespace}.ephemeral`,
      resources: { requests: { storage: "1Gi" } },
    };
    const volumeClaimTemplate = { metadata: { labels: { of: "pod" } }, spec };
    return createPod(world, `ephemeral-${world.nextNumber()}`, { ephemeral: { volumeClaimTemplate } });
  },
};

const isInUse = ({ metadata }: PersistentVolumeClaim, view: NamespaceView): boolean =>
  (view.of("Pod") as Pod[]).some(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name),
  );

/** PersistentVolumeClaims. */
export const CLAIMS: WorkloadKind<PersistentVolumeClaim> = {
  collection: COLLECTION,
  isSmall: true,
  controllers: VOLUME_CONTROLLERS,
  components: VOLUME_COMPONENTS,
  eventRules: {
    ExternalProvisioning: "presence",
    FailedBinding: "presence",
    ProvisioningFailed: "presence",
    VolumeMismatch: "presence",
    WaitForFirstConsumer: "presence",
    // Depends on whether a Pod gets its node before the claim is synced.
    WaitForPodScheduled: "ignored",
  },
  fixtures: classFixtures,
  canCreate: ({ view }) => !claimsOf(view).some(isCompeting),
  create: (world, fallback) => {
    const { random, view, namespace } = world;
    const selector = { matchLabels: { tier: random.pick(["gold", "silver"]) } };
    const free = volumesOf(view).filter(({ status }) => status?.phase === "Available");
    const match = free.length > 0 && random.chance(0.7) ? random.pick(free) : undefined;
    return {
      metadata: { name: freeName(claimsOf(view), CLAIM_NAMES, fallback) },
      spec: {
        accessModes: match?.spec.accessModes ?? random.pick(ACCESS_MODES),
        resources: { requests: { storage: random.pick(["512Mi", "512Mi", "1Gi", "2Gi"]) } },
        storageClassName: match?.spec.storageClassName ?? randomClass(world),
        volumeMode: match?.spec.volumeMode ?? randomMode(random),
        ...(match === undefined ? randomAttributes(world) : attributesOf(match)),
        ...(random.chance(0.15) && { selector }),
        ...(random.chance(0.25) && { volumeName: `${namespace}.${random.pick(VOLUME_NAMES)}` }),
      },
    };
  },
  actions: [
    useAction,
    ephemeralAction,
    changeAction(COLLECTION, 2, CHANGES),
    deleteAction(COLLECTION, 4),
    holdAction(COLLECTION),
  ],
  isSettled: (claim, view) => claim.metadata.deletionTimestamp === undefined || isKept(claim) || isInUse(claim, view),
};
