/** Who says what callers may do: `--authorization-mode` with its webhook, or a file. */
export interface AuthorizationConfig {
  /** The values of kube-apiserver's `--authorization-mode`, in their order. */
  readonly modes: readonly string[];
  /** Whom the mode Webhook asks. */
  readonly webhook?: {
    readonly configFile: string;
    /** Of the SubjectAccessReview: v1 or v1beta1. */
    readonly version: string;
    readonly authorizedMs: number;
    readonly unauthorizedMs: number;
  };
  /** An AuthorizationConfiguration, instead of all others. */
  readonly configFile?: string;
}
