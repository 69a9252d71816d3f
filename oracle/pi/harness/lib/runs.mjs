// Runs of the real AgentHarness, each to its end: name -> what is done with it. Their logs, cut behind any line, are what a kill leaves, since
// a transaction is one write.
import { setTimeout as pause } from 'node:timers/promises'
import { call, calls, context, harnessOn, say, text, thought } from './agent.mjs'

const words = content => [{ type: 'text', text: content }]
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }

/** What each tool says at its end: by that a result is known to be the real one. */
export const SAID = { slow: 'the slow net is hauled', quick: 'the quick net is hauled', again: 'the net is hauled again' }

/** Tools; `begins(id)` is told of each call. */
export function toolsFor(begins) {
  return {
    async slow(id, args, update, _, invocation) {
      begins(id)
      update({ content: words('half a net – "so far"'), details: { metres: 3 }, usage }, { checkpoint: true })
      await invocation.setMemo('place', { metres: 3 })
      await pause(10)
      update({ content: words('most of a net'), details: 'a word' }, { checkpoint: true })
      await pause(5)
      return { content: words(SAID.slow), details: { metres: 9 }, usage }
    },
    async quick(id) {
      begins(id)
      await pause(2)
      return { content: words(SAID.quick), details: {} }
    },
    async breaks(id) {
      begins(id)
      throw new Error('the net is torn')
    },
    again: [async (id) => {
      begins(id)
      await pause(6)
      return { content: words(SAID.again), details: {} }
    }, { replay: 'safe' }],
  }
}

const small = { compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 10 } }
const long = (word, count = 50) => `${word} `.repeat(count)

export const runs = {
  'one-by-one': [{ toolExecution: 'sequential' }, async (lane, answers) => {
    answers([calls(thought('which net?'), text('I will haul.'), call('slow', 'a1', { x: 'a"b\\c' }), call('quick', 'a2'), call('breaks', 'a3'), call('nosuch', 'a4')), say('All is hauled.')])
    await lane.prompt('Haul the nets.', undefined, context)
  }],
  'at-once': [{ toolExecution: 'parallel' }, async (lane, answers) => {
    answers([calls(call('slow', 'b1'), call('quick', 'b2'), call('again', 'b3'), call('breaks', 'b4')), calls(call('again', 'b5')), say('Done.')])
    await lane.prompt('Haul the nets.', undefined, context)
  }],
  'queues': [{ toolExecution: 'sequential' }, async (lane, answers, harness, begun) => {
    answers([calls(call('slow', 'q1'), call('quick', 'q2')), say('Hauled.'), say('More.'), say('Enough.')])
    const run = lane.prompt('Haul the nets.', undefined, context)
    await begun('q1')
    await lane.steer('and hurry', undefined, context)
    await lane.followUp('then rest', undefined, context)
    await lane.nextRun('tomorrow again', undefined, context)
    await run
    await lane.prompt('The next day.', undefined, context)
  }],
  'abort-of-a-tool': [{ toolExecution: 'sequential' }, async (lane, answers, harness, begun) => {
    answers([calls(call('slow', 'd1'), call('quick', 'd2')), say('never')])
    const run = lane.prompt('Haul the nets.', undefined, context)
    await begun('d1')
    await lane.abort(context)
    await run
  }],
  'abort-of-a-text': [{ faux: { tokensPerSecond: 400, tokenSize: { min: 2, max: 3 } } }, async (lane, answers) => {
    answers([calls(text('a long text that comes in many pieces and more of them'), call('slow', 'e1'))])
    const run = lane.prompt('Haul the nets.', undefined, context)
    await pause(60)
    await lane.abort(context)
    await run
  }],
  'second-try': [{}, async (lane, answers) => {
    answers([say('', { stopReason: 'error', errorMessage: 'overloaded_error: try again' }), say('half', { stopReason: 'error', errorMessage: '503 service unavailable' }), say('At last.')])
    await lane.prompt('Haul the nets.', undefined, context)
  }],
  'failed': [{}, async (lane, answers) => {
    answers([say('', { stopReason: 'error', errorMessage: 'invalid api key' })])
    await lane.prompt('Haul the nets.', undefined, context)
  }],
  'too-long': [{}, async (lane, answers) => {
    answers([say([text('and'), call('quick', 'l1')], { stopReason: 'length' }), say('Well.')])
    await lane.prompt('Haul the nets.', undefined, context)
  }],
  'compaction': [small, async (lane, answers) => {
    answers([say(long('one')), say(long('two')), say('WHAT WAS SAID'), say('WHAT WAS SAID TOO'), say('three')])
    await lane.prompt(`Haul ${long('x')}`, undefined, context)
    await lane.prompt(`More ${long('y')}`, undefined, context)
    await lane.compact({}, context)
    await lane.prompt('On.', undefined, context)
  }],
  'way-back': [{}, async (lane, answers) => {
    answers([say('one'), say('two'), say('THE OTHER WAY'), say('three')])
    await lane.prompt('First.', undefined, context)
    const first = await lane.getTipId(context)
    await lane.prompt('Second.', undefined, context)
    await lane.navigateTree(first, { summarize: true, label: 'back' }, context)
    await lane.prompt('Third.', undefined, context)
  }],
  'two-lanes': [{ toolExecution: 'sequential' }, async (lane, answers, harness) => {
    answers([calls(call('slow', 'm1'), call('quick', 'm2')), calls(call('slow', 's1'), call('quick', 's2')), say('one is done'), say('two is done')])
    const side = await harness.lane('side "x"', { createAt: null }, context)
    await Promise.all([lane.prompt('Haul here.', undefined, context), side.prompt('Haul there.', undefined, context)])
  }],
  'deferred': [{ faux: { deferred: { pendingFetches: 2 } }, streamOptions: { deferred: true } }, async (lane, answers) => {
    answers([calls(text('late'), call('quick', 'f1')), say('done')])
    await lane.prompt('Haul the nets.', undefined, context)
    for (let n = 0; n < 8; n += 1) if (!(await lane.resume(context)).ok) break
  }],
}

export async function doRun(name, session, begins) {
  const [options, act] = runs[name]
  const seen = new Set()
  const { harness, faux } = await harnessOn(session, toolsFor(id => begins(id) ?? seen.add(id)), options)
  const begun = async (id) => {
    while (!seen.has(id)) await pause(1)
  }
  await act(await harness.lane('main', context), answers => faux.setResponses(answers), harness, begun)
  await harness.close(context)
}
