/**
 * Why a controller of kube-controller-manager cannot run inside this server. `all.ts` lists the others; a test fails if one
 * is in neither list or in both.
 */
export const ABSENT_CONTROLLERS: Readonly<Record<string, string>> = {
  "persistentvolume-attach-detach-controller": "there is no storage that could be attached to a Node",
  "resourcepoolstatusrequest-controller":
    "does not run upstream either: the gate DRAResourcePoolStatus is alpha and off",
  "selinux-warning-controller": "off by default upstream; it is about mounted volumes, and nothing is mounted",
  "storageversion-garbage-collector-controller":
    "does not run upstream either: the gate StorageVersionAPI is alpha and off, so there are no StorageVersions",
};
