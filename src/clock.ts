/** The only source of "now" in domain code, so that tests can move it. */
export type Clock = () => Date;
