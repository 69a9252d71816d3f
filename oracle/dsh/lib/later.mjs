// Versions 1 to 3: published decoders, validators and upgrade steps. No session library of these
// versions is published, so nothing here can load or resume; it can say what a reader accepts.
import { registerHooks } from 'node:module'
import { KNOWN_SESSION_EVENT_TYPES } from '@deepseek-ai/dsh-session'
import { SessionFormatEventCollector } from '@deepseek-ai/dsh-session-format'

registerHooks({
  resolve(name, context, next) {
    const wanted = name === '@deepseek-ai/dsh-llm' && context.parentURL?.includes('/dsh-session-format-v1-to-v2/')
    return wanted ? { url: new URL('./stream.mjs', import.meta.url).href, shortCircuit: true } : next(name, context)
  },
})
const first = await import('@deepseek-ai/dsh-session-format-v0-to-v1')
const second = await import('@deepseek-ai/dsh-session-format-v1-to-v2')
const third = await import('@deepseek-ai/dsh-session-format-v2-to-v3')

// What the v0 library knows, and what later versions added or renamed.
const TYPES = new Set([
  ...KNOWN_SESSION_EVENT_TYPES,
  'assistant/attempt', 'system/message', 'tool/ptc-dispatch', 'tool/ptc-dispatch-start', 'model/selection',
  'feedback/message-put', 'feedback/message-delete', 'subagent/model-selection-policy',
  'session-log-deepseek/delivery-accepted',
])
const VERSIONS = [
  { codec: first.releasedV0SessionFormatCodec, accept: artifact => artifact, up: first.sessionFormatV0ToV1 },
  { codec: first.releasedV1SessionFormatCodec, accept: artifact => first.restoreReleasedV1Artifact(artifact, TYPES), up: second.sessionFormatV1ToV2 },
  { codec: third.releasedV2SessionFormatCodec, accept: artifact => second.restoreReleasedV2Artifact(artifact, TYPES), up: third.sessionFormatV2ToV3 },
  { codec: third.releasedV3SessionFormatCodec, accept: artifact => third.restoreReleasedV3Artifact(artifact, TYPES) },
]

/** Read a log as `mode` ('strict' or 'recoverable') allows, upgrade it to `target`, validate it there. */
export function readLog(text, mode, target) {
  const lines = text.split('\n')
  if (mode === 'strict' && lines.at(-1) !== '') throw new Error('the last line has no newline')
  const head = JSON.parse(lines[0])
  const version = head?.version
  if (VERSIONS[version] === undefined) throw new Error(`no published decoder for version ${version}`)
  let out = new Side()
  const decoder = VERSIONS[version].codec.createDecoder(head, mode)
  for (const line of lines.slice(1, -1)) decoder.decodeRow(row(line, mode), out)
  let inherited = decoder.finish(out)
  let header = decoder.header
  for (let at = version; at < (target ?? version); at += 1) {
    const { up } = VERSIONS[at]
    const targetHeader = up.migrateHeader(header)
    up.validateTargetHeader(targetHeader)
    const stage = up.createStage({
      sourceHeader: header, targetHeader, sourceInheritedEventCount: inherited,
      sourceKind: at === version ? 'decoded' : 'transformed',
    })
    const next = new Side()
    for (const item of out.items) item.run ? stage.transformRun(item.run, next) : stage.transformEvent(item.event, next)
    inherited = stage.finish(next)
    header = targetHeader
    out = next
  }
  return VERSIONS[target ?? version].accept({ header, inheritedEventCount: inherited, events: out.events() })
}

/** The lines of a file that holds this artifact. Only versions 2 and 3 have a published writer. */
export function writeLog({ header, inheritedEventCount, events }) {
  const { codec } = VERSIONS[header.version]
  return [codec.encodeHeader(header, inheritedEventCount), ...events.map(event => codec.encodeEvent(event))].map(line => JSON.stringify(line) + '\n')
}

function row(line, mode) {
  try {
    return JSON.parse(line)
  } catch (error) {
    // A recoverable reader is handed the damage as a row that no decoder can take for an event.
    if (mode === 'strict') throw error
    return null
  }
}

/** What one stage hands to the next: single events, and runs of chunks still packed. */
class Side {
  items = []
  emitEvent(event) { this.items.push({ event }) }
  emitRun(run) { this.items.push({ run }) }
  events() {
    const all = new SessionFormatEventCollector()
    for (const item of this.items) item.run ? all.emitRun(item.run) : all.emitEvent(item.event)
    return all.values
  }
}
