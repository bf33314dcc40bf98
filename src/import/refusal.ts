/** A file that cannot be imported, or not to its end; the message is for the person who chose it. */
export class FileFault extends Error {}
