/** A clock that stands still until it is moved. */
export class TestClock {
  #now: number;

  constructor(start = "2026-03-01T10:00:00.000Z") {
    this.#now = Date.parse(start);
  }

  readonly now = (): Date => new Date(this.#now);

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
