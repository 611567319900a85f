/** The Service of an APIService. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The address of an extension server. */
export interface Backend {
  readonly host: string;
  readonly port: number;
  /** The Service is implemented by a function of the configuration, so it needs no address and no endpoints. */
  readonly isLocal?: boolean;
}

/** Resolves the address of a Service. Rejects with upstream's message if it has none. */
export type ResolveService = (service: ServiceReference) => Promise<Backend>;
