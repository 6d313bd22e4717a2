// Exact matches of many short queries in a text, through the text's suffix tree, which lies in two textures.
// A texel of the first holds parent, suffix link, first and last letter of the edge, and depth of a node; one of the
// second its children by letter, or, of a leaf, the place of its suffix and the letter before that. A thread of
// `find_matches` is a query: it finds the longest match at each of its letters, and goes from one to the next along a
// suffix link. A thread of `report_matches` is a match: it walks all leaves below it, without a stack.

#define ROOT 1
#define ROW_BITS 12

struct Match {
    int query;
    int start;
    int node;
    int along;
    int first_slot;
};

// Texels are five numbers of three bytes, and a letter in the last byte.
struct Number {
    unsigned char low, middle, high;
};

union Texel {
    uint4 words;
    struct {
        Number numbers[5];
        char letter;
    };
};

__device__ __forceinline__ Texel texel(cudaTextureObject_t table, int node)
{
    Texel t;
    t.words = tex2D<uint4>(table, node & ((1 << ROW_BITS) - 1), node >> ROW_BITS);
    return t;
}

__device__ __forceinline__ int number(const Texel& t, int i)
{
    const Number n = t.numbers[i];
    return n.low | n.middle << 8 | n.high << 16;
}

__device__ __forceinline__ int parent_of(const Texel& t) { return number(t, 0); }
__device__ __forceinline__ int link_of(const Texel& t) { return number(t, 1); }
__device__ __forceinline__ int first_of(const Texel& t) { return number(t, 2); }
__device__ __forceinline__ int last_of(const Texel& t) { return number(t, 3); }
__device__ __forceinline__ int depth_of(const Texel& t) { return number(t, 4); }

__device__ __forceinline__ void record(int2* match, int node, int along, int matched, int shortest)
{
    if (matched >= shortest)
        *match = make_int2(node, along);
}

// Queries are letters after a `q` and before a zero; the matches of query i begin behind those of the ones before.
extern "C" __global__ void find_matches(void* matches, const char* queries, const char* text, const int* starts,
                                        const int* lengths, cudaTextureObject_t nodes, cudaTextureObject_t children,
                                        int query_count, int shortest)
{
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= query_count)
        return;
    const int last_start = lengths[query] - shortest;
    int2* match = (int2*)matches + starts[query] - query * (shortest + 1);
    queries += starts[query] + 1;

    int node = 0;
    int matched = 0;  // letters down to the node, then along the edge
    int known = 0;    // letters below the node that need no comparison

    for (int start = 0; start <= last_start; ++start, ++match) {
        if (node == 0 || matched < 0) {
            node = ROOT;
            matched = 0;
            known = 0;
        }
        int parent = ROOT;
        int first = 0;
        int place = 0;
        char wanted = queries[start + matched];

        while (wanted != '\0') {
            const Texel below = texel(children, node);
            parent = node;
            switch (wanted) {
            case 'A': node = number(below, 0); break;
            case 'C': node = number(below, 1); break;
            case 'G': node = number(below, 2); break;
            case 'T': node = number(below, 3); break;
            default: node = 0; break;
            }
            if (node == 0) {
                record(match, parent, 0, matched, shortest);
                matched -= 1;
                known = 0;
                goto follow_link;
            }
            {
                const Texel edge = texel(nodes, node);
                first = first_of(edge);
                const int last = last_of(edge);
                if (known) {
                    const int length = last - first + 1;
                    place = min(first + known, last + 1);
                    matched += min(length, known);
                    known = max(known - length, 0);
                } else {
                    place = first + 1;
                    matched += 1;
                }
                wanted = queries[start + matched];
                while (place <= last && wanted != '\0') {
                    if (text[place] != wanted)
                        goto stopped;
                    matched += 1;
                    place += 1;
                    wanted = queries[start + matched];
                }
            }
        }
    stopped:
        record(match, node, place - first, matched, shortest);
        known = place - first;
        matched -= known + 1;
    follow_link:
        node = link_of(texel(nodes, parent));
    }
}

// All places where at least `shortest` letters from the match's start occur and the letter before differs, with the
// number of letters that agree, in the order of a walk over the tree. The text is one page of a longer one; places in
// the part that it shares with the page before or behind are left to that.
extern "C" __global__ void report_matches(const Match* matches, int match_count, int2* alignments,
                                          const char* queries, const int* starts, cudaTextureObject_t nodes,
                                          cudaTextureObject_t children, int page_begin, int page_end,
                                          int shadow_left, int shadow_right, int shortest)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= match_count)
        return;
    const Match match = matches[id];
    const char* query = queries + starts[match.query] + match.start;
    const char before = query[0];

    int above = match.node;
    int top = above;
    Texel here = texel(nodes, above);
    while (depth_of(here) >= shortest) {
        top = above;
        above = parent_of(here);
        here = texel(nodes, above);
    }

    // `off` counts the levels since the walk left the path to the match; on that path `length` is the node's depth.
    int node = top;
    int length = depth_of(texel(nodes, top));
    int off = 0;
    if (top == match.node) {
        if (match.along > 0)
            length = depth_of(texel(nodes, above)) + match.along;
        off = 1;
    }
    int slot = match.first_slot;
    char branch = 'A';
    bool up = false;

    while (node != above) {
        const Texel below = texel(children, node);
        const char leaf = below.letter;
        if (leaf || up) {
            if (leaf && leaf != before) {
                const int left = number(below, 0) + page_begin;
                const int right = left + length;
                if ((left != page_begin || shadow_left == -1) && (right != page_end || shadow_right == -1) &&
                    !(left > page_begin && right < shadow_left)) {
                    alignments[slot].x = left;
                    alignments[slot].y = length;
                    slot += 1;
                }
            }
            up = false;
            const int parent = parent_of(texel(nodes, node));
            const Texel siblings = texel(children, parent);
            if (number(siblings, 0) == node)
                branch = 'C';
            else if (number(siblings, 1) == node)
                branch = 'G';
            else if (number(siblings, 2) == node)
                branch = 'T';
            else if (number(siblings, 3) == node)
                branch = '$';
            else
                up = true;
            node = parent;
            if (off)
                off -= 1;
            if (off == 0)
                length = depth_of(texel(nodes, node));
        } else {
            const char onward = off == 0 ? query[1 + length] : '\0';
            int child = 0;
            if (branch == 'A') {
                child = number(below, 0);
                if (child == 0)
                    branch = 'C';
            }
            if (branch == 'C' && child == 0) {
                child = number(below, 1);
                if (child == 0)
                    branch = 'G';
            }
            if (branch == 'G' && child == 0) {
                child = number(below, 2);
                if (child == 0)
                    branch = 'T';
            }
            if (branch == 'T' && child == 0) {
                child = number(below, 3);
                if (child == 0)
                    branch = '$';
            }
            if (branch == '$' && child == 0)
                child = number(below, 4);
            if (child == 0) {
                up = true;
                continue;
            }
            node = child;
            if (off)
                off += 1;
            else if (branch != onward)
                off = 1;
            else {
                const Texel reached = texel(nodes, node);
                length = depth_of(reached);
                if (node == match.node) {
                    off = 1;
                    if (match.along > 0)
                        length = depth_of(texel(nodes, parent_of(reached))) + match.along;
                }
            }
            branch = 'A';
        }
    }
}
