const NOT_YET = "not built in yet";
const NO_VOLUMES = "there is no storage that could be attached to a Node";

/**
 * Why a controller of kube-controller-manager cannot run inside this server. `all.ts` lists the others; a test fails if one
 * is in neither list or in both.
 */
export const ABSENT_CONTROLLERS: Readonly<Record<string, string>> = {
  "device-taint-eviction-controller": NOT_YET,
  "disruption-controller": NOT_YET,
  "endpoints-controller": NOT_YET,
  "endpointslice-controller": NOT_YET,
  "endpointslice-mirroring-controller": NOT_YET,
  "ephemeral-volume-controller": NOT_YET,
  "horizontal-pod-autoscaler-controller": NOT_YET,
  "node-ipam-controller": NOT_YET,
  "node-lifecycle-controller": NOT_YET,
  "persistentvolume-attach-detach-controller": NO_VOLUMES,
  "persistentvolume-binder-controller": NOT_YET,
  "persistentvolume-expander-controller": "there is no storage that could be expanded",
  "persistentvolume-protection-controller": NOT_YET,
  "persistentvolumeclaim-protection-controller": NOT_YET,
  "pod-garbage-collector-controller": NOT_YET,
  "podgroup-protection-controller": NOT_YET,
  "resourceclaim-controller": NOT_YET,
  "resourcepoolstatusrequest-controller": NOT_YET,
  "selinux-warning-controller": "off by default upstream; it is about mounted volumes, and nothing is mounted",
  "storageversion-garbage-collector-controller":
    "does not run upstream either: the gate StorageVersionAPI is alpha and off, so there are no StorageVersions",
  "taint-eviction-controller": NOT_YET,
  "ttl-controller": NOT_YET,
  "volumeattributesclass-protection-controller": NOT_YET,
};
