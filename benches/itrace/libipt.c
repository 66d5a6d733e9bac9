/* How many instructions libipt decodes, and how long it takes: `libipt insn|block TRACE FILE OFFSET SIZE ADDRESS`.
   Prints the number of instructions and the nanoseconds. */

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct pt_image *image;

static uint64_t instructions(const struct pt_config *config)
{
	struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(config);
	uint64_t count = 0;
	pt_insn_set_image(decoder, image);
	int status;
	while ((status = pt_insn_sync_forward(decoder)) >= 0) {
		for (;;) {
			struct pt_insn insn;
			struct pt_event event;
			while (status >= 0 && (status & pts_event_pending))
				status = pt_insn_event(decoder, &event, sizeof(event));
			if (status < 0)
				break;
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			if (status < 0)
				break;
			count += 1;
		}
	}
	pt_insn_free_decoder(decoder);
	return count;
}

static uint64_t blocks(const struct pt_config *config)
{
	struct pt_block_decoder *decoder = pt_blk_alloc_decoder(config);
	uint64_t count = 0;
	pt_blk_set_image(decoder, image);
	int status;
	while ((status = pt_blk_sync_forward(decoder)) >= 0) {
		for (;;) {
			struct pt_block block = { 0 };
			struct pt_event event;
			while (status >= 0 && (status & pts_event_pending))
				status = pt_blk_event(decoder, &event, sizeof(event));
			if (status < 0)
				break;
			status = pt_blk_next(decoder, &block, sizeof(block));
			count += block.ninsn;
			if (status < 0)
				break;
		}
	}
	pt_blk_free_decoder(decoder);
	return count;
}

int main(int argc, char **argv)
{
	if (argc != 7)
		return 2;
	FILE *file = fopen(argv[2], "rb");
	if (!file || fseek(file, 0, SEEK_END))
		return 3;
	long size = ftell(file);
	uint8_t *trace = malloc(size);
	rewind(file);
	if (!trace || fread(trace, 1, size, file) != (size_t)size)
		return 3;
	struct pt_config config;
	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + size;
	image = pt_image_alloc("bench");
	if (pt_image_add_file(image, argv[3], strtoull(argv[4], 0, 0), strtoull(argv[5], 0, 0), NULL, strtoull(argv[6], 0, 0)))
		return 4;
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	uint64_t count = strcmp(argv[1], "block") ? instructions(&config) : blocks(&config);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%llu %llu\n", (unsigned long long)count,
	       (unsigned long long)((to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec));
	return 0;
}
