/** Who decides what callers may do when nobody says otherwise: the values of kube-apiserver's `--authorization-mode`. */
export const DEFAULT_MODES: readonly string[] = ["Node", "RBAC"];
