// A healthy rollout that is being spoiled, line by line.

export class Draft {
  #first

  constructor(bytes) {
    this.lines = bytes.toString('latin1').split('\n').slice(0, -1).map(line => Buffer.from(line, 'latin1'))
    this.#first = this.at(0).ordinal
  }

  /** A copy of a record. Places count from 0, and from the end when negative. */
  at(place) {
    return JSON.parse(this.lines.at(place))
  }

  /** The places of the records that fit. */
  places(fits) {
    return [...this.lines.keys()].filter(place => fits(this.at(place)))
  }

  insert(place, ...lines) {
    this.lines.splice(place, 0, ...lines.map(lineOf))
  }

  append(...lines) {
    this.insert(this.lines.length, ...lines)
  }

  remove(place, count = 1) {
    this.lines.splice(place, count)
  }

  /** Keep what is in front of a place. */
  cut(place) {
    this.lines.length = place
  }

  replace(place, line) {
    this.lines[place] = lineOf(line)
  }

  edit(place, change) {
    const record = this.at(place)
    this.replace(place, change(record) ?? record)
  }

  /** The numbers run on as if nothing had happened. */
  renumber() {
    if (this.#first === undefined) return
    for (const place of this.lines.keys()) this.edit(place, (record) => { record.ordinal = this.#first + place })
  }

  /** Where a line begins. */
  offset(place) {
    return this.lines.slice(0, place).reduce((sum, line) => sum + line.length + 1, 0)
  }

  bytes(end = '\n') {
    return Buffer.concat(this.lines.flatMap(line => [line, Buffer.from(end)]))
  }
}

const lineOf = line => Buffer.from(typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line))

/** Half of a line, as a write that was cut off leaves it. */
export const half = line => line.subarray(0, line.length >> 1)

export const item = (type, more = () => true) => record => record.type === 'response_item' && record.payload.type === type && more(record.payload)
export const event = type => record => record.type === 'event_msg' && record.payload.type === type
export const answer = item('message', ({ role }) => role === 'assistant')
export const question = item('message', ({ role, content }) => role === 'user' && !content[0].text.startsWith('<'))

/**
 * A kind of damage: { name, of, file, spoil, asIs, verdict }. `of` names a healthy session, `file` says which of its rollouts `spoil`
 * gets, as a draft, and it gives bytes, or changes the draft. `asIs` is what the client then says in judge.mjs's words, null when
 * nothing. `verdict` is what sessfix must say, where there is no doubt. Where it `adds` words, the healthy session does not tell what
 * is wanted.
 */
export const kind = (name, of, spoil, { asIs = null, verdict, file = 0, ...more } = {}) => ({ name, of, spoil, asIs, verdict, file, ...more })

export const REPAIRABLE = 'repairable'
export const REFUSE = 'refuse'
export const CLEAN = 'clean'
