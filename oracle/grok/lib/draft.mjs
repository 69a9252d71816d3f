// The files of one session, to be damaged.
import { HISTORY, LOG, SUMMARY } from './session.mjs'

const LF = Buffer.from('\n')
const bytesOf = text => Buffer.isBuffer(text) ? text : Buffer.from(text)

/** One file, line by line. A line is named by words that it holds; the last one that fits counts. */
class Page {
  constructor(bytes) {
    this.#read(bytes)
  }

  #read(bytes) {
    const text = bytes.subarray(0, bytes.at(-1) === 10 ? -1 : bytes.length)
    this.lines = []
    for (let at = 0; at <= text.length;) {
      const end = text.indexOf(10, at)
      this.lines.push(text.subarray(at, end < 0 ? text.length : end))
      at = end < 0 ? text.length + 1 : end + 1
    }
    this.end = bytes.at(-1) === 10 ? LF : Buffer.alloc(0)
  }

  at(...words) {
    const found = this.lines.findLastIndex(line => words.every(word => line.includes(word)))
    if (found < 0) throw new Error(`no line with ${words.join(' and ')}`)
    return found
  }

  line(...words) { return this.lines[this.at(...words)] }
  swap(words, text) { this.lines[this.at(...words)] = bytesOf(text) }
  edit(words, change) { this.swap(words, change(this.line(...words).toString())) }
  drop(...words) { this.lines.splice(this.at(...words), 1) }
  behind(words, ...texts) { this.lines.splice(this.at(...words) + 1, 0, ...texts.map(bytesOf)) }
  add(...texts) { this.lines.push(...texts.map(bytesOf)) }
  cutBehind(...words) { this.lines.length = this.at(...words) + 1 }

  /** Half of a line; the rest is gone, or with `open` the line's end too: the next line hangs on it. */
  tear(words, { part = 0.5, open = false } = {}) {
    const at = this.at(...words)
    const half = this.lines[at].subarray(0, Math.floor(this.lines[at].length * part))
    if (open) this.lines.splice(at, 2, Buffer.concat([half, this.lines[at + 1]]))
    else this.lines[at] = half
  }

  /** The end of the file is gone. */
  cut(count) {
    this.#read(this.bytes().subarray(0, -count))
  }

  move(words, behind) {
    const [line] = this.lines.splice(this.at(...words), 1)
    this.behind(behind, line)
  }

  bytes() {
    return Buffer.concat([...this.lines.flatMap((line, n) => n > 0 ? [LF, line] : [line]), this.end])
  }
}

export class Draft {
  #files
  #pages = new Map()

  constructor(files) {
    this.#files = new Map(files)
  }

  get history() { return this.page(HISTORY) }
  get log() { return this.page(LOG) }
  get events() { return this.page('events.jsonl') }
  get points() { return this.page('rewind_points.jsonl') }

  page(name) {
    if (!this.#pages.has(name)) this.#pages.set(name, new Page(this.#files.get(name)))
    return this.#pages.get(name)
  }

  names(fits) { return [...this.#files.keys()].filter(name => fits.test(name)) }
  read(name) { return this.#files.get(name) }

  write(name, text) {
    this.#pages.delete(name)
    this.#files.set(name, bytesOf(text))
  }

  remove(name) {
    this.#pages.delete(name)
    this.#files.delete(name)
  }

  summary(change) {
    this.write(SUMMARY, JSON.stringify({ ...JSON.parse(this.read(SUMMARY)), ...change }, null, 2))
  }

  files() {
    return new Map([...this.#files].map(([name, bytes]) => [name, this.#pages.get(name)?.bytes() ?? bytes]))
  }
}
