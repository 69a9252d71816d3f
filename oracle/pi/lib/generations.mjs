// Sessions of older generations, as releases wrote them, and what upgrade.mjs expects of each beyond the client's own upgrade.
import { plain } from './author.mjs'
import { healthy } from './healthy.mjs'
import { page } from './page.mjs'

const sheet = (rows, change) => {
  const made = page(rows)
  change?.(made)
  return made.bytes()
}
/** A talk of version 1 with a compaction that counts to `n`; the header is 0. */
const counting = n => sheet(healthy.first, s => s.change('compaction', { firstKeptEntryIndex: n }))
/** Versions 1 and 2 of any session of today that has nothing in it that they did not have. */
const older = (version, rows) => sheet(version === 1 ? plain(rows) : rows, s => version === 1 || s.change('header', { version }))
const first = fields => sheet(healthy.first, s => s.change('header', fields))

/**
 * { name, bytes, settings, parent }: `settings` are what the client then knows of the session's beginning, `parent` whose branch it says it is.
 * `broken` sessions are forked by the client as they are, which puts a header of version 3 over them.
 */
export const generations = [
  { name: 'first', bytes: sheet(healthy.first), broken: true },
  { name: 'second', bytes: sheet(healthy.second), broken: true },
  ...['linear', 'batch', 'stopped'].map(name => ({ name: `first/${name}`, bytes: older(1, healthy[name]) })),
  ...['linear', 'batch', 'tree', 'compacted', 'stopped'].map(name => ({ name: `second/${name}`, bytes: older(2, healthy[name]) })),
  ...[1, 4, 9].map(n => ({ name: `counts ${n}`, bytes: counting(n) })),
  { name: 'counts itself', bytes: counting([...healthy.first.keys()].indexOf('compaction')) },
  { name: 'counts as a fraction', bytes: Buffer.from(counting(5).toString().replace('"firstKeptEntryIndex":5', '"firstKeptEntryIndex":5.0')) },
  { name: '0.7', bytes: first({ model: 'oracle/dir/oracle-1', thinkingLevel: 'high' }), settings: { model: { provider: 'oracle', modelId: 'dir/oracle-1' }, thinkingLevel: 'high' } },
  { name: '0.7, another model', bytes: sheet(healthy.first, s => s.change('header', { model: 'a/b' }).inFront('q2', { type: 'model_change', timestamp: s.row('q2').timestamp, model: 'oracle/second' })), settings: { model: { provider: 'a', modelId: 'b' } } },
  { name: '0.13', bytes: first({ provider: 'oracle', modelId: 'oracle-0', thinkingLevel: 'low' }), settings: { model: { provider: 'oracle', modelId: 'oracle-0' }, thinkingLevel: 'low' } },
  { name: '0.13, a branch', bytes: first({ branchedFrom: '/home/user/.pi/agent/sessions/--x--/parent.jsonl' }), parent: '/home/user/.pi/agent/sessions/--x--/parent.jsonl' },
  { name: 'numbers', bytes: Buffer.from(sheet(healthy.first).toString().replaceAll('"totalTokens":0', '"totalTokens":0.0,"big":9007199254740993')) },
  { name: 'words of the talk that look like members', bytes: sheet(healthy.first, s => s.say('q2', { content: [{ type: 'text', text: '"firstKeptEntryIndex":3,"role":"hookMessage"' }] })) },
  { name: 'a header of version 0', bytes: first({ version: 0 }) },
  { name: 'a header whose version is null', bytes: first({ version: null }) },
]

/** What must be refused, and why. */
export const refused = [
  { name: 'ids in some entries', bytes: sheet(healthy.first, s => s.change('q2', { id: 'b0000009', parentId: null })), reason: /ids/ },
  { name: 'a version of the future', bytes: sheet(healthy.linear, s => s.change('header', { version: 4 })), reason: /newer/ },
  { name: 'a version in words', bytes: sheet(healthy.linear, s => s.change('header', { version: '2' })), reason: /no number/ },
  { name: 'a log that lacks its header', bytes: sheet(healthy.first, s => s.drop('header')), reason: /header/i },
]

/** What a header of 0.7 or 0.13 says of the session's beginning. */
export function settingsOf({ version, model, provider, modelId, thinkingLevel }) {
  if (version >= 2 || model === undefined && provider === undefined) return undefined
  const [name, ...rest] = (model ?? '').split('/')
  return { model: provider === undefined ? { provider: name, modelId: rest.join('/') } : { provider, modelId }, thinkingLevel }
}
