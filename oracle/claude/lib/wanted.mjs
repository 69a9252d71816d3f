// What a damaged transcript still holds whole and a model must therefore get: the talk on the path from its newest node
// up to the start, or up to the last compaction that has something below it.
//
// Left out by design: attachments and system records, sidechains, errors of the API, thinking, empty texts, everything
// above a compaction, other branches, and results of calls that are lost. Of several records with one uuid the last counts.
import { itemsOf } from './items.mjs'

/**
 * [{ text, role } | { call, name, input, answers }]: `answers` are the texts of which the call must get one, if there are any.
 * With `leaf` the path leads up from the node of that uuid.
 */
export function wantedOf(records, leaf) {
  const nodes = nodesOf(records)
  const answers = answersOf(nodes)
  const talk = talkOn(pathOf(nodes, leaf), nodes)
  const ids = talk.flatMap(node => itemsOf(node.record.message)).map(item => item.call)
  const answersTo = (call, node) => {
    if (ids.filter(id => id === call).length < 2) return answers.get(call) ?? []
    // One id for two calls: only what hangs under this one is surely its own.
    const own = [...nodes.values()].filter(other => other.record.parentUuid === node.record.uuid)
    return own.flatMap(other => itemsOf(other.record.message)).filter(item => 'result' in item).map(item => item.text)
  }
  return talk.flatMap(node => itemsOf(node.record.message).flatMap((item) => {
    if ('result' in item) return []
    if ('call' in item) return [{ ...item, answers: answersTo(item.call, node) }]
    return item.text.trim() === '' ? [] : [item]
  }))
}

/** Ids of results that no client can send, because their call is nowhere, or above the compaction. */
export function strandedIn(records) {
  const nodes = nodesOf(records)
  const path = pathOf(nodes)
  const idsOf = (kind, some) => some.flatMap(node => itemsOf(node.record.message)).filter(item => kind in item).map(item => item[kind])
  const talk = [...nodes.values()].filter(isTalk)
  const anywhere = new Set(idsOf('call', talk))
  const onPath = new Set(idsOf('call', talkOn(path, nodes)))
  const lost = idsOf('result', talk.filter(node => node.at >= path[0].at)).filter(id => !anywhere.has(id))
  const cut = idsOf('result', path.filter(isTalk)).filter(id => !onPath.has(id))
  return [...new Set([...lost, ...cut])]
}

/** By uuid, in the order of their first appearance: [uuid, { record, at, time }]. */
function nodesOf(records) {
  const nodes = new Map()
  let time = 0
  for (const record of records) {
    if (typeof record.uuid !== 'string') continue
    const node = nodes.get(record.uuid) ?? { at: nodes.size }
    const own = Date.parse(record.timestamp)
    time = Number.isNaN(own) ? time : own
    nodes.set(record.uuid, Object.assign(node, { record, time }))
  }
  return nodes
}

const isTalk = ({ record }) => (record.type === 'user' || record.type === 'assistant') && !record.isSidechain

/**
 * From the newest talk upwards. Where a link is broken or runs in a circle, the node before it in the file stands in; for
 * all that name one lost parent, the node before the first of them.
 */
function pathOf(nodes, uuid) {
  const inFile = [...nodes.values()]
  const leaf = nodes.get(uuid) ?? inFile.filter(isTalk).reduce((best, node) => best === undefined || node.time >= best.time ? node : best, undefined)
  const path = []
  const seen = new Set()
  for (let node = leaf; node !== undefined; node = above(node)) {
    seen.add(node)
    path.unshift(node)
    if (node.record.isCompactSummary || node.record.subtype === 'compact_boundary') break
  }
  return path

  function above(node) {
    const parent = nodes.get(node.record.parentUuid)
    if (parent !== undefined && !seen.has(parent)) return parent
    const { parentUuid } = node.record
    const first = typeof parentUuid === 'string' && parent === undefined ? inFile.find(other => other.record.parentUuid === parentUuid) : node
    return inFile.slice(0, first.at).findLast(other => !seen.has(other) && !other.record.isSidechain)
  }
}

/** One answer of a model is stored as several records, and its calls fork the path: each brings its whole answer along. */
function talkOn(path, nodes) {
  const answers = new Map()
  for (const node of nodes.values()) {
    const id = answerOf(node)
    if (id !== undefined) answers.set(id, [...answers.get(id) ?? [], node])
  }
  const talk = new Set()
  for (const node of path.filter(isTalk)) for (const part of answers.get(answerOf(node)) ?? [node]) talk.add(part)
  return [...talk].filter(node => !node.record.isApiErrorMessage)
}

function answerOf(node) {
  const id = isTalk(node) && node.record.type === 'assistant' ? node.record.message?.id : undefined
  return typeof id === 'string' ? id : undefined
}

/** The results of each call, wherever they stand. Where a tool answered, what stood in for an answer does not count. */
function answersOf(nodes) {
  const all = new Map()
  for (const node of [...nodes.values()].filter(isTalk)) {
    if (node.record.type !== 'user') continue
    for (const item of itemsOf(node.record.message)) {
      if ('result' in item) all.set(item.result, [...all.get(item.result) ?? [], { text: item.text, real: !isStandIn(node.record, item.text) }])
    }
  }
  return new Map([...all].map(([call, answers]) => {
    const real = answers.filter(answer => answer.real)
    return [call, (real.length > 0 ? real : answers).map(answer => answer.text)]
  }))
}

const isStandIn = (record, text) => record.toolDenialKind === 'interrupted' || /^(TOOL_OUTCOME_UNKNOWN|TOOL_NOT_STARTED|\[Tool call interrupted)/.test(text)
