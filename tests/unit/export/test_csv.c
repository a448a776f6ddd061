// SPDX-License-Identifier: MIT
// The CSV exports: columns exactly as rocprofv3 has them, and rows as written.
#include "export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Line `number` (0 = heading) of text, without its end; "" when there are fewer.
static const char *line(const char *text, unsigned number)
{
    static char copy[2048];
    for (; number && text; number--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    snprintf(copy, sizeof(copy), "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    return copy;
}

static unsigned line_count(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void counter_collection(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){0}, 1, kr_export_counter_csv);
    assert_string_equal(
        line(text, 0),
        "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
        "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
        "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
        "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\",\"Replay_Pass\"");
    // one row a dispatch, pass and counter; instances added up
    assert_int_equal(line_count(text), 1 + 3 * SAMPLE_PASSES * 3);
    assert_string_equal(line(text, 1), "1,1,\"Agent 1\",1,4242,4243,1048576,1,"
                                       "\"vecadd(float const*, float const*, float*, int)\",1024,0,0,8,4,16,"
                                       "\"SQ_WAVES\",16384.000000,2100000,2100500,0");
    assert_string_equal(line(text, 2), "1,1,\"Agent 1\",1,4242,4243,1048576,1,"
                                       "\"vecadd(float const*, float const*, float*, int)\",1024,0,0,8,4,16,"
                                       "\"SQ_INSTS_VALU\",4002.000000,2100000,2100500,0");
    // the second dispatch in its last pass; LDS is given in steps of 512 bytes
    assert_string_equal(line(text, 1 + 15 + 12),
                        "2,2,\"Agent 1\",1,4242,4243,262144,2,"
                        "\"void saxpy<4>(float, float const*, float*, int)\",512,512,0,8,4,16,"
                        "\"SQ_WAVES\",4096.000000,2204000,2204500,4");
    free(text);
}

static void counter_values_are_exact(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){.huge_value = UINT64_MAX}, 1, kr_export_counter_csv);
    assert_non_null(strstr(line(text, 1), "\"SQ_WAVES\",18446744073709551615.000000,"));
    free(text);
}

static void kernel_trace(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){0}, 1, kr_export_kernel_csv);
    assert_string_equal(
        line(text, 0),
        "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","
        "\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\","
        "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\","
        "\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"");
    assert_int_equal(line_count(text), 1 + SAMPLE_DISPATCHES); // once each, however many passes
    assert_string_equal(line(text, 3),
                        "\"KERNEL_DISPATCH\",\"Agent 1\",1,0,4243,3,3,\"scale(float*, float, int)\",3,"
                        "2300000,2300500,512,0,8,4,16,256,1,1,65536,1,1");
    free(text);
}

static void missing_times_are_empty(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){.untimed = true}, 1, kr_export_kernel_csv);
    assert_non_null(strstr(line(text, 3), ",3,2300000,2300500,512,"));
    assert_non_null(strstr(line(text, SAMPLE_DISPATCHES), ",4,,,0,"));
    free(text);
}

static void agent_info(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){0}, 1, kr_export_agent_csv);
    assert_string_equal(
        line(text, 0),
        "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cpu_Cores_Count\",\"Simd_Count\",\"Cpu_Core_Id_"
        "Base\","
        "\"Simd_Id_Base\",\"Max_Waves_Per_Simd\",\"Lds_Size_In_Kb\",\"Gds_Size_In_Kb\",\"Num_Gws\",\"Wave_"
        "Front_Size\","
        "\"Num_Xcc\",\"Cu_Count\",\"Array_Count\",\"Num_Shader_Banks\",\"Simd_Arrays_Per_Engine\","
        "\"Cu_Per_Simd_Array\",\"Simd_Per_Cu\",\"Max_Slots_Scratch_Cu\",\"Gfx_Target_Version\",\"Vendor_Id\","
        "\"Device_Id\",\"Location_Id\",\"Domain\",\"Drm_Render_Minor\",\"Num_Sdma_Engines\",\"Num_Sdma_Xgmi_"
        "Engines\","
        "\"Num_Sdma_Queues_Per_Engine\",\"Num_Cp_Queues\",\"Max_Engine_Clk_Ccompute\",\"Max_Engine_Clk_"
        "Fcompute\","
        "\"Sdma_Fw_Version\",\"Fw_Version\",\"Capability\",\"Cu_Per_Engine\",\"Max_Waves_Per_Cu\",\"Family_"
        "Id\","
        "\"Workgroup_Max_Size\",\"Grid_Max_Size\",\"Local_Mem_Size\",\"Hive_Id\",\"Gpu_Id\",\"Workgroup_Max_"
        "Dim_X\","
        "\"Workgroup_Max_Dim_Y\",\"Workgroup_Max_Dim_Z\",\"Grid_Max_Dim_X\",\"Grid_Max_Dim_Y\",\"Grid_Max_"
        "Dim_Z\","
        "\"Name\",\"Vendor_Name\",\"Product_Name\",\"Model_Name\"");
    assert_string_equal(line(text, 1),
                        "1,1,\"GPU\",0,416,0,0,8,64,0,0,64,1,104,8,8,1,13,4,0,90010,4098,0,0,0,0,0,0,0,0,"
                        "0,1700,0,0,0,13,32,0,1024,4294967295,68702699520,0,0,1024,1024,1024,2147483647,"
                        "65535,65535,\"gfx90a\",\"AMD\",\"AMD Instinct MI210\",\"gfx90a\"");
    free(text);
}

static void a_heading_when_there_is_nothing(void **state)
{
    (void)state;
    char *text = export_text(NULL, 0, kr_export_agent_csv);
    assert_int_equal(line_count(text), 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_collection), cmocka_unit_test(counter_values_are_exact),
        cmocka_unit_test(kernel_trace),       cmocka_unit_test(missing_times_are_empty),
        cmocka_unit_test(agent_info),         cmocka_unit_test(a_heading_when_there_is_nothing),
    };
    return cmocka_run_group_tests_name("export.csv", tests, NULL, NULL);
}
