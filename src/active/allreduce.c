/* Reduces sums over all processes, from 8 bytes on, and says how long each size took: "reduced BYTES SECONDS PROCESSES". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST (16 << 20)

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, all = 0;
    long most = MOST / sizeof(float);
    float *from = malloc(MOST), *to = malloc(MOST);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!from || !to) {
        fprintf(stderr, "no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* Small whole numbers, whose sums are exact whatever their order is. */
    for (long i = 0; i < most; i++)
        from[i] = (float)(rank + 1 + i % 7);
    for (long bytes = 8; bytes <= MOST; bytes *= 8) {
        int count = (int)(bytes / (long)sizeof(float));
        int times = bytes < (1 << 20) ? 50 : 5;
        double began, own, slowest = 0;
        MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        began = MPI_Wtime();
        for (int i = 0; i < times; i++)
            MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        own = (MPI_Wtime() - began) / times;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        for (long i = 0; i < count; i++)
            if (to[i] != (float)(ranks * (ranks + 1L) / 2 + ranks * (i % 7)))
                wrong++;
        if (rank == 0)
            printf("reduced %ld %.9f %d\n", bytes, slowest, ranks);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong %d\n", all);
    MPI_Finalize();
    return 0;
}
