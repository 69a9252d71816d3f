// The client's app server on a pipe: requests, answers and notifications are lines of JSON.
import { createInterface } from 'node:readline'
import { kill, start } from './processes.mjs'

/** The client said no to a request. */
export class Refused extends Error {}

export class App {
  #next = 1
  #open = new Map()
  #seen = []
  #watchers = new Set()
  #err = ''
  /** Questions to a person. */
  asks = []

  constructor(program, { env, cwd }) {
    this.process = start(program, ['app-server'], { env, cwd, stdin: 'pipe' })
    this.process.stdin.on('error', () => {})
    this.process.stderr.on('data', (chunk) => { this.#err = (this.#err + chunk).slice(-4000) })
    createInterface({ input: this.process.stdout }).on('line', line => this.#read(line))
    this.process.ended.then(status => this.#giveUp(`the app server ended with ${status}`), error => this.#giveUp(error.message))
  }

  async begin() {
    await this.call('initialize', { clientInfo: { name: 'oracle', title: null, version: '1' }, capabilities: { experimentalApi: true } })
    this.#write({ method: 'initialized' })
  }

  /** What the client answers; throws Refused with its words. */
  call(method, params, seconds = 30) {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      if (this.process.over()) return reject(new Refused(`${method}: the app server has ended`))
      const timer = setTimeout(() => this.#settle(id, { error: { message: `no answer within ${seconds} seconds` } }), seconds * 1000)
      this.#open.set(id, ({ result, error }) => {
        clearTimeout(timer)
        if (error === undefined) resolve(result)
        else reject(new Refused(`${method}: ${error.message.replaceAll(/\/\S+\//g, '')}`))
      })
      this.#write({ id, method, params })
    })
  }

  /** The notification that fits, of those that came or are to come; undefined after `seconds`. */
  seen(fits, seconds = 30) {
    const known = this.#seen.find(fits)
    if (known !== undefined) return Promise.resolve(known)
    return new Promise((resolve) => {
      const stop = (message) => {
        clearTimeout(timer)
        this.#watchers.delete(watch)
        resolve(message)
      }
      const watch = (message) => { if (message === undefined || fits(message)) stop(message) }
      const timer = setTimeout(stop, seconds * 1000)
      this.#watchers.add(watch)
    })
  }

  /** End as a person would: nothing more is asked. */
  async close() {
    if (this.process.over()) return
    this.process.stdin.end()
    const timer = setTimeout(() => this.kill(), 5000)
    await this.process.ended.catch(() => {})
    clearTimeout(timer)
  }

  kill() {
    kill(this.process.pid)
  }

  complaints() {
    return this.#err
  }

  #write(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #read(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    if (message.method === undefined) return this.#settle(message.id, message)
    // It asks a person. Nobody is there.
    if (message.id !== undefined) return this.asks.push(message)
    this.#seen.push(message)
    for (const watch of [...this.#watchers]) watch(message)
  }

  #settle(id, message) {
    const answer = this.#open.get(id)
    this.#open.delete(id)
    answer?.(message)
  }

  #giveUp(why) {
    for (const id of [...this.#open.keys()]) this.#settle(id, { error: { message: why } })
    for (const watch of [...this.#watchers]) watch(undefined)
  }
}
