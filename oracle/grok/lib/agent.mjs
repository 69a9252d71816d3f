// The client on a pipe: requests, answers and notifications of the Agent Client Protocol are lines of JSON.
import { createInterface } from 'node:readline'
import { kill, start } from './processes.mjs'

/** The client said no to a request. */
export class Refused extends Error {}

export class Agent {
  #next = 1
  #open = new Map()
  #err = ''
  /** Questions to a person, and what the client tells. */
  asks = []
  told = []

  constructor(program, args, { env, cwd }) {
    this.process = start(program, args, { env, cwd, stdin: 'pipe' })
    this.process.stderr.on('data', (chunk) => { this.#err = (this.#err + chunk).slice(-4000) })
    createInterface({ input: this.process.stdout }).on('line', line => this.#read(line))
    this.process.ended.then(status => this.#giveUp(`the client ended with ${status}`), error => this.#giveUp(error.message))
  }

  async begin() {
    const { authMethods = [] } = await this.call('initialize', { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false } })
    const method = authMethods.find(({ id }) => /key/i.test(id))
    if (method !== undefined) await this.call('authenticate', { methodId: method.id })
  }

  /** What the client answers; throws Refused with its words. */
  call(method, params, seconds = 30) {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      if (this.process.over()) return reject(new Refused(`${method}: the client has ended`))
      const timer = setTimeout(() => this.#settle(id, { error: { message: `no answer within ${seconds} seconds` } }), seconds * 1000)
      this.#open.set(id, ({ result, error }) => {
        clearTimeout(timer)
        if (error === undefined) resolve(result)
        else reject(new Refused(`${method}: ${error.message} ${error.data === undefined ? '' : JSON.stringify(error.data).slice(0, 200)}`.trim()))
      })
      this.#write({ jsonrpc: '2.0', id, method, params })
    })
  }

  /** Tell it something that has no answer. */
  tell(method, params) {
    this.#write({ jsonrpc: '2.0', method, params })
  }

  /** Answer a question to a person with the first of its options that fits. */
  answer(question, kind) {
    const { optionId } = question.params.options.find(option => kind.test(option.kind))
    this.#write({ jsonrpc: '2.0', id: question.id, result: { outcome: { outcome: 'selected', optionId } } })
  }

  /** The updates of one session: { update, isReplay }. */
  updates(session) {
    return this.told.flatMap(({ params }) => params?.update === undefined || params.sessionId !== session ? [] : { update: params.update, isReplay: params._meta?.isReplay === true })
  }

  kill() {
    kill(this.process.pid)
  }

  /** End as a person would: nothing more is asked. */
  async close() {
    if (this.process.over()) return
    this.process.stdin.end()
    const timer = setTimeout(() => this.kill(), 5000)
    await this.process.ended.catch(() => {})
    clearTimeout(timer)
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
    if (message.id === undefined) this.told.push(message)
    else if (message.method === 'session/request_permission') this.asks.push(message)
    else this.#write({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'not here' } })
  }

  #settle(id, message) {
    const answer = this.#open.get(id)
    this.#open.delete(id)
    answer?.(message)
  }

  #giveUp(why) {
    for (const id of [...this.#open.keys()]) this.#settle(id, { error: { message: why } })
  }
}
